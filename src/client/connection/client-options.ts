import type { Channel } from '../../rpc/index.js';
import type { Deadline } from '../../transport/deadline.js';

/** Below the 30 s a server keeps a detached session: later there is nothing left to resume. */
export const DEFAULT_GIVE_UP_AFTER_MS = 25_000;
/**
 * After a line that went silent: the server hears nothing either, and gives us up only after 45 s or more. Its 30 s begin
 * then, and we noticed after 10.
 */
export const GIVE_UP_AFTER_SILENCE_MS = 65_000;
/** As long as Codex's client waits. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Asking for the environment may run a shell on the other side. */
export const INFO_TIMEOUT_MS = 30_000;

/** How a client reaches its server, and how long it is willing to wait. */
export interface ExecClientOptions {
  /** Makes a new channel to the same server. Called again for every attempt to come back. */
  readonly dial: () => Promise<Channel>;
  /** Exchange bytes as they are where both sides can, instead of in base64. Default true. */
  readonly binaryFrames?: boolean;
  /** For the server's log. */
  readonly clientName?: string;
  readonly connectTimeoutMs?: number;
  readonly initializeTimeoutMs?: number;
  /** How long to wait for an answer. Default: as long as the connection lasts. */
  readonly requestTimeoutMs?: number;
  /** Come back after a lost connection. Off for a channel that is the server's life, such as a program. */
  readonly resume: boolean;
  /** How long to try coming back before contact counts as lost. Default 25 s, or 65 s after a line that went silent. */
  readonly giveUpAfterMs?: number;
  readonly onLog?: (message: string) => void;
  /**
   * Told as soon as requests can be sent, before the server has answered the handshake: those made now go out in the same
   * flight. What the server can do is not known yet. Connecting may still fail.
   *
   * @internal
   */
  readonly onOpening?: () => void;
}

/** How one connection of a client is made, with what its options leave open decided. It takes `limitMs` at most. */
export function connectionSettings(options: ExecClientOptions, limitMs: number) {
  const { connectTimeoutMs = DEFAULT_TIMEOUT_MS, initializeTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  return {
    dial: options.dial,
    clientName: options.clientName ?? 'execwire',
    binaryFrames: options.binaryFrames ?? true,
    connectTimeoutMs: Math.min(connectTimeoutMs, limitMs),
    initializeTimeoutMs: Math.min(initializeTimeoutMs, limitMs),
    onLog: (message: string) => options.onLog?.(message),
  };
}

/** How long to wait for an answer, and where it may come from. */
export interface CallOptions extends Deadline {
  /** Fail with `contactLost` rather than call a session opened meanwhile. Default: where the method is about a process. */
  readonly sameSession?: boolean;
}
