import { ExecError } from '../protocol/index.js';
import type { dialWebSocket } from '../transport/index.js';
import { Difference } from './verdict.js';

/** How messages travel: a socket or the standard streams of a program. */
export type WireChannel = Awaited<ReturnType<typeof dialWebSocket>>;

/** Several times what any server needs for anything asked of it here. */
const ANSWER_LIMIT_MS = 10_000;

/** What a request or notification carries. */
export type WireParams = Record<string, unknown>;

/** An answer as it arrived, with its text: ids must come back to the digit. */
export interface WireAnswer {
  readonly id: unknown;
  readonly result?: WireParams;
  readonly error?: { readonly code: number; readonly message: string };
  readonly text: string;
}

/** A notification about a process. */
export interface WireEvent {
  readonly method: string;
  readonly params: WireParams & { readonly processId: string; readonly seq: number };
}

/**
 * Speaks the protocol by hand. It shares nothing with the client of this package, so that a misunderstanding of the one is
 * not also that of the other.
 */
export class Wire {
  readonly answers: WireAnswer[] = [];
  readonly notifications: WireEvent[] = [];
  readonly #channel: WireChannel;
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  #closed = false;
  /** Set once something arrived that is no message: nothing after it can be relied on. */
  #broken: Difference | undefined;

  constructor(channel: WireChannel) {
    this.#channel = channel;
    channel.open({
      message: (text) => this.#arrived(text),
      closed: () => {
        this.#closed = true;
        this.#changed();
      },
    });
  }

  send(text: string): void {
    this.#channel.send(text, () => undefined);
  }

  /** Sends a request without waiting. Returns its id. */
  post(method: string, params?: unknown): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.send(JSON.stringify({ id, method, params }));
    return id;
  }

  answerTo(id: unknown): Promise<WireAnswer> {
    return this.until('an answer', () => this.answers.find((answer) => answer.id === id));
  }

  async ask(method: string, params?: unknown): Promise<WireAnswer> {
    return await this.answerTo(this.post(method, params));
  }

  /** The result of a request that has to succeed. */
  async call(method: string, params?: unknown): Promise<WireParams> {
    const { result, error } = await this.ask(method, params);
    if (result === undefined) throw new Difference(`${method} was refused with ${error?.code}`);
    return result;
  }

  /** The number of the error a request ends with, or what it got instead. */
  async refusal(method: string, params?: unknown): Promise<number | 'accepted'> {
    return (await this.ask(method, params)).error?.code ?? 'accepted';
  }

  async handshake(resumeSessionId: string | null = null): Promise<string> {
    const { sessionId } = await this.call('initialize', { clientName: 'conformance', resumeSessionId });
    this.send('{"method":"initialized","params":{}}');
    return String(sessionId);
  }

  /** All events of a process in the order of their numbers, once it has closed and none is missing. */
  story(processId: string): Promise<WireEvent[]> {
    return this.until('the end of a process', () => {
      const events = this.notifications
        .filter(({ params }) => params.processId === processId)
        .sort((a, b) => a.params.seq - b.params.seq);
      const last = events.find(({ method }) => method === 'process/closed');
      return last && events.length >= last.params.seq ? events : undefined;
    });
  }

  /** Waits until `text` has come out of a process. */
  async says(processId: string, text: string): Promise<void> {
    await this.until('output', () => {
      const own = this.notifications.filter(({ params }) => params.processId === processId);
      return outputOf(own).includes(text) || undefined;
    });
  }

  /** Waits until something that arrives makes `probe` answer. */
  until<Value>(what: string, probe: () => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        then();
      };
      const look = (): void => {
        const value = probe();
        if (value !== undefined) settle(() => resolve(value));
        else if (this.#broken) settle(() => reject(this.#broken));
        else if (this.#closed) settle(() => reject(failed(`the connection ended instead of ${what}`)));
      };
      const timer = setTimeout(() => settle(() => reject(failed(`no sign of ${what}`))), ANSWER_LIMIT_MS);
      this.#watchers.add(look);
      look();
    });
  }

  untilClosed(): Promise<true> {
    return this.until('the end of the connection', () => this.#closed || undefined);
  }

  close(): void {
    this.#channel.close('done');
  }

  #arrived(text: string): void {
    const message = parsed(text);
    if (message === undefined)
      this.#broken ??= new Difference('the server sent something that is no message');
    else if ('method' in message) this.notifications.push({ params: {}, ...message } as unknown as WireEvent);
    else this.answers.push({ ...(message as unknown as WireAnswer), text });
    this.#changed();
  }

  #changed(): void {
    for (const look of [...this.#watchers]) look();
  }
}

/** The output in events, streams told apart on request. */
export function outputOf(events: readonly WireEvent[], stream?: string): string {
  const chunks = events.filter(
    ({ method, params }) =>
      method === 'process/output' && (stream === undefined || params['stream'] === stream),
  );
  return Buffer.concat(chunks.map(({ params }) => Buffer.from(String(params['chunk']), 'base64'))).toString();
}

/** The object a text holds, if it holds one. */
function parsed(text: string): WireParams | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as WireParams) : undefined;
  } catch {
    return undefined;
  }
}

function failed(message: string): ExecError {
  return new ExecError('requestTimeout', message);
}
