import type { NetworkAsker } from '../../contract/index.js';
import type { Channel } from '../../rpc/index.js';
import type { Deadline } from '../../transport/deadline.js';

/** Below the 30 s a server keeps a detached session: after that, there is nothing left to resume. */
export const DEFAULT_GIVE_UP_AFTER_MS = 25_000;
/**
 * After the line went silent: the server also hears nothing and gives us up only after 45 s or more, and only then do
 * its 30 s start. We noticed after 10.
 */
export const GIVE_UP_AFTER_SILENCE_MS = 65_000;
/** The same as Codex's client. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Determining the environment may start a shell on the server. */
export const INFO_TIMEOUT_MS = 30_000;

/** How a client reaches its server, and how long it waits. */
export interface ExecClientOptions {
  /** Opens a new channel to the same server. Called for every connection attempt. */
  readonly dial: () => Promise<Channel>;
  /** Exchange raw bytes instead of base64 where both sides can. Default true. */
  readonly binaryFrames?: boolean;
  /** Shown in the server's log. */
  readonly clientName?: string;
  readonly connectTimeoutMs?: number;
  readonly initializeTimeoutMs?: number;
  /** How long to wait for an answer. Default: as long as the connection lasts. */
  readonly requestTimeoutMs?: number;
  /**
   * Reconnect after a lost connection. Set to false for a channel that the server lives and dies with, such as a
   * program.
   */
  readonly resume: boolean;
  /** How long to try reconnecting before contact counts as lost. Default 25 s, or 65 s after the line went silent. */
  readonly giveUpAfterMs?: number;
  readonly onLog?: (message: string) => void;
  /** Decides about hosts for programs whose rules have `ask`. Default: they are denied. */
  readonly onNetworkRequest?: NetworkAsker;
  /**
   * Called as soon as requests can be sent, before the server has answered the handshake. Requests made now go out
   * right after the handshake. The server's capabilities are not known yet, and connecting may still fail.
   *
   * @internal
   */
  readonly onOpening?: () => void;
}

/** The settings of one connection attempt with all defaults applied. It takes at most `limitMs`. */
export function connectionSettings(options: ExecClientOptions, limitMs: number) {
  const { connectTimeoutMs = DEFAULT_TIMEOUT_MS, initializeTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return {
    dial: options.dial,
    clientName: options.clientName ?? 'execwire',
    binaryFrames: options.binaryFrames ?? true,
    connectTimeoutMs: Math.min(connectTimeoutMs, limitMs),
    initializeTimeoutMs: Math.min(initializeTimeoutMs, limitMs),
    onLog: (message: string) => options.onLog?.(message),
    onNetworkRequest: options.onNetworkRequest,
  };
}

/** How long to wait for an answer, and which session may give it. */
export interface CallOptions extends Deadline {
  /**
   * Fail with `contactLost` rather than call a session that was opened in the meantime. Default: true for methods about
   * a process.
   */
  readonly sameSession?: boolean;
}
