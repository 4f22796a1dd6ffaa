import type { TerminalSize } from '../../contract/index.js';
import type { ExecServerNotifications } from '../../protocol/index.js';
import type { KeptClient, KeptProcess } from '../kept-process.js';
import { Notices } from '../push/notices.js';
import type { OutputPusher, PushTarget } from '../push/output-pusher.js';
import type { Share } from '../shares.js';

/** How a session wants to use a kept process. */
export interface AttachOptions {
  readonly afterSeq: number;
  readonly mayPause: boolean;
  /** What it says about the keyboard. Absent: nothing, as clients that know of none. */
  readonly keyboard?: 'take' | 'ifFree' | 'none' | 'view' | undefined;
  /** It was given a screen, and gets another if it falls behind. */
  readonly hasScreen?: boolean;
  /** Its number among the clients of the process, from an earlier server. */
  readonly number?: number;
  /** Views another client's process. */
  readonly share?: Share | undefined;
}

/** What a kept process needs of a session that uses it. */
export interface KeptClientOptions {
  readonly kept: KeptProcess;
  readonly pusher: OutputPusher;
  readonly attach: AttachOptions;
  readonly target: () => PushTarget | undefined;
  /** Called when it has the keyboard, or no longer has it. */
  readonly keyboardChanged: (client: KeptClient) => void;
  readonly forgotten: () => void;
}

/** The session, as a client of the kept process. Its client is sent only what it has announced to understand. */
export function keptClient(options: KeptClientOptions): KeptClient {
  const { kept, pusher, target, keyboardChanged, forgotten } = options;
  const { mayPause, keyboard, hasScreen, number } = options.attach;
  const tell = noticesOf(kept.process.processId, target);
  const client: KeptClient = {
    number: number ?? kept.nextNumber(),
    access: accessOf(keyboard),
    // A viewer delays nobody.
    mayPause: mayPause && keyboard !== 'view' && keyboard !== 'none',
    isConnected: () => target() !== undefined,
    keyboardAsked: (by) => {
      if (client.access === 'explicit') tell('process/keyboardAsked', { by });
    },
    keyboardChanged: (holds) => {
      keyboardChanged(client);
      if (client.access === 'explicit') tell('process/keyboardChanged', { holds });
    },
    resized: (size: TerminalSize, afterSeq) => {
      if (hasScreen) tell('process/resized', { size, afterSeq });
    },
    pace: (paces) => pusher.pace(paces),
    forgotten,
  };
  return client;
}

function noticesOf(
  processId: string,
  target: () => PushTarget | undefined,
): (method: keyof ExecServerNotifications, params: object) => void {
  const notices = new Notices((message) => target()?.send(message));
  return (method, params) => {
    notices.add(method, { processId, ...params });
    target()?.queue.schedule(notices);
  };
}

function accessOf(keyboard: AttachOptions['keyboard']): KeptClient['access'] {
  if (keyboard === undefined) return 'implicit';
  return keyboard === 'view' ? 'view' : 'explicit';
}
