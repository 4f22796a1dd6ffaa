import { ExecError, errorCatalogue } from '../protocol/errors.js';
import { execMethods } from '../protocol/index.js';
import type { Channel, ChannelReceiver, OutgoingMessage, PartPlace } from '../rpc/index.js';

/** All that a viewer may call: what processes there are, and what they print. */
const VIEWING: ReadonlySet<string> = new Set(
  Object.entries(execMethods).flatMap(([name, { viewing }]) => (viewing === undefined ? [] : [name])),
);
const NOTIFICATIONS: ReadonlySet<string> = new Set(['initialized', 'process/ack', 'session/end']);
/** Viewers send short requests. */
const MAX_MESSAGE_CHARS = 64 * 1024;

/**
 * The channel of a viewer. What would change anything is answered with `viewOnly` and never reaches the machine. Messages that
 * pass are written anew, so that both ends read the same in them.
 */
export class ViewOnlyChannel implements Channel {
  readonly #inner: Channel;

  constructor(inner: Channel) {
    this.#inner = inner;
  }

  get label(): string {
    return this.#inner.label;
  }

  get carriesBytes(): boolean {
    return this.#inner.carriesBytes ?? false;
  }

  get inflates(): boolean {
    return this.#inner.inflates ?? false;
  }

  open(receiver: ChannelReceiver): void {
    this.#inner.open({
      message: (text) => {
        const passed = this.#examine(text);
        if (passed !== null) receiver.message(passed);
      },
      binary: () => this.#inner.reject('viewers send no bytes'),
      closed: (reason) => receiver.closed(reason),
    });
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    this.#inner.send(message, flushed);
  }

  sendPart(part: Uint8Array, place: PartPlace, flushed: () => void): void {
    this.#inner.sendPart(part, place, flushed);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(reason: string): void {
    this.#inner.close(reason);
  }

  reject(reason: string): void {
    this.#inner.reject(reason);
  }

  destroy(reason: string): void {
    this.#inner.destroy(reason);
  }

  /** The message to pass on; null if it was answered or dropped. */
  #examine(text: string): string | null {
    const message = text.length > MAX_MESSAGE_CHARS ? null : parsed(text);
    if (message === null) {
      this.#inner.reject('viewers may not send this message');
      return null;
    }
    const { id, method, params } = message;
    const isRequest = id !== undefined;
    if (isRequest ? VIEWING.has(String(method)) : NOTIFICATIONS.has(String(method)))
      return JSON.stringify({
        ...(isRequest ? { id } : {}),
        method,
        params: harmless(String(method), params),
      });
    if (isRequest) this.#inner.send(refusal(id), () => undefined);
    return null;
  }
}

function parsed(text: string): { id?: unknown; method?: unknown; params?: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The same request without what would change something. */
function harmless(method: string, params: unknown): unknown {
  if (typeof params !== 'object' || params === null) return params;
  // Another user's session may hold more than a viewer may touch.
  if (method === 'initialize') return { ...params, resumeSessionId: null };
  if (method === 'process/attach') return { ...params, keyboard: 'view', mayPause: false };
  return params;
}

function refusal(id: unknown): string {
  const { code, message } = new ExecError('viewOnly', 'This link is view-only. Sign in to change something.');
  return JSON.stringify({ id, error: { code: errorCatalogue[code].rpc, message, data: { code } } });
}
