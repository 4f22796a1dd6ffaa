import { ExecError } from '../protocol/index.js';
import type { dialWebSocket } from '../transport/index.js';
import { Difference } from './verdict.js';

/** Carries messages: a socket, or the stdin and stdout of a program. */
export type WireChannel = Awaited<ReturnType<typeof dialWebSocket>>;

/** Several times longer than any request here takes. */
const ANSWER_LIMIT_MS = 10_000;

/** The params of a request or notification. */
export type WireParams = Record<string, unknown>;

/** An answer and its original text: ids must come back digit for digit. */
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
 * A minimal protocol client. It shares no code with this package's client, so that a mistake in one is not repeated in
 * the other.
 */
export class Wire {
  readonly answers: WireAnswer[] = [];
  readonly notifications: WireEvent[] = [];
  readonly #channel: WireChannel;
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  #closed = false;
  /** Set once something that is not a message arrives: nothing after it can be trusted. */
  #broken: Difference | undefined;

  constructor(channel: WireChannel) {
    this.#channel = channel;
    channel.open({
      message: (text) => this.#receive(text),
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

  /** The error code of a request, or `accepted`. */
  async refusal(method: string, params?: unknown): Promise<number | 'accepted'> {
    return (await this.ask(method, params)).error?.code ?? 'accepted';
  }

  async handshake(resumeSessionId: string | null = null): Promise<string> {
    const { sessionId } = await this.call('initialize', { clientName: 'conformance', resumeSessionId });
    this.send('{"method":"initialized","params":{}}');
    return String(sessionId);
  }

  /** All events of a process, ordered by number, once it has closed and none is missing. */
  story(processId: string): Promise<WireEvent[]> {
    return this.until('the end of a process', () => {
      const events = this.notifications
        .filter(({ params }) => params.processId === processId)
        .sort((a, b) => a.params.seq - b.params.seq);
      const last = events.find(({ method }) => method === 'process/closed');
      return last && events.length >= last.params.seq ? events : undefined;
    });
  }

  /** Waits until a process has printed `text`. */
  async says(processId: string, text: string): Promise<void> {
    await this.until('output', () => {
      const own = this.notifications.filter(({ params }) => params.processId === processId);
      return outputOf(own).includes(text) || undefined;
    });
  }

  /** Waits until `probe` returns a value. Checks after each message. */
  until<Value>(what: string, probe: () => Value | undefined): Promise<Value> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        then();
      };
      const check = (): void => {
        const value = probe();
        if (value !== undefined) settle(() => resolve(value));
        else if (this.#broken) settle(() => reject(this.#broken));
        else if (this.#closed) settle(() => reject(failed(`the connection ended instead of ${what}`)));
      };
      const timer = setTimeout(() => settle(() => reject(failed(`no sign of ${what}`))), ANSWER_LIMIT_MS);
      this.#watchers.add(check);
      check();
    });
  }

  untilClosed(): Promise<true> {
    return this.until('the end of the connection', () => this.#closed || undefined);
  }

  close(): void {
    this.#channel.close('done');
  }

  #receive(text: string): void {
    const message = parseObject(text);
    if (message === undefined)
      this.#broken ??= new Difference('the server sent something that is not a message');
    else if ('method' in message) this.notifications.push({ params: {}, ...message } as unknown as WireEvent);
    else this.answers.push({ ...(message as unknown as WireAnswer), text });
    this.#changed();
  }

  #changed(): void {
    for (const check of [...this.#watchers]) check();
  }
}

/** The output in events, of all streams or of one. */
export function outputOf(events: readonly WireEvent[], stream?: string): string {
  const chunks = events.filter(
    ({ method, params }) =>
      method === 'process/output' && (stream === undefined || params['stream'] === stream),
  );
  return Buffer.concat(chunks.map(({ params }) => Buffer.from(String(params['chunk']), 'base64'))).toString();
}

/** Parses a JSON object; undefined for anything else. */
function parseObject(text: string): WireParams | undefined {
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
