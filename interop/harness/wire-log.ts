import { waitLimitMs } from './wait-limit.js';

/** A JSON-RPC message as it passed by; which members are set tells requests, answers and notifications apart. */
export interface RpcMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** One message on the wire: on which connection, counted from 1, and from whom. */
export interface WireMessage extends RpcMessage {
  readonly connection: number;
  readonly from: 'client' | 'server';
}

/** Everything Codex and a server said to each other, in the order it passed the proxy. */
export class WireLog {
  readonly messages: WireMessage[] = [];
  #waiting: { matches: (message: WireMessage) => boolean; resolve: (message: WireMessage) => void }[] = [];

  /** Appends a message and wakes those who waited for it. */
  add(message: WireMessage): void {
    this.messages.push(message);
    const woken = this.#waiting.filter(({ matches }) => matches(message));
    this.#waiting = this.#waiting.filter((waiter) => !woken.includes(waiter));
    for (const { resolve } of woken) resolve(message);
  }

  /** The first message that matches, past or future; rejects when none comes. */
  first(matches: (message: WireMessage) => boolean): Promise<WireMessage> {
    const seen = this.messages.find(matches);
    if (seen) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const giveUp = (): void =>
        reject(new Error(`no such message within ${waitLimitMs} ms: ${String(matches)}`));
      const timer = setTimeout(giveUp, waitLimitMs);
      this.#waiting.push({
        matches,
        resolve: (message) => {
          clearTimeout(timer);
          resolve(message);
        },
      });
    });
  }

  /** All requests of one method so far. */
  requests(method: string): WireMessage[] {
    return this.messages.filter((message) => message.from === 'client' && message.method === method);
  }

  /** The server's answer to a request, once it is there. */
  answerTo(request: WireMessage): Promise<WireMessage> {
    return this.first(
      ({ connection, from, method, id }) =>
        connection === request.connection && from === 'server' && !method && id === request.id,
    );
  }
}

/** The bytes of a `process/output` notification as text; empty for every other message. */
export function outputText({ method, params }: RpcMessage): string {
  if (method !== 'process/output') return '';
  return Buffer.from(String(params?.['chunk']), 'base64').toString('utf8');
}
