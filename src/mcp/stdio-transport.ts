import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { LineChannel } from '../transport/lines.js';
import { CallsInFlight } from './calls-in-flight.js';

/** Answers the client has not read. Beyond this, no requests are read. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** The same for requests that wait for others. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/**
 * One message per line over a pair of streams. Unlike the transport of the SDK, it takes messages of any size we take
 * elsewhere, answers requests it does not understand, and reads no more from a client that does not read.
 */
export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #channel: LineChannel;
  readonly #calls = new CallsInFlight((message) => this.onmessage?.(message));
  #unreadBytes = 0;
  #closed = false;

  constructor({ input, output }: StdioStreams) {
    this.#channel = new LineChannel({ label: 'stdio', input, output });
  }

  /** What the client sent that cannot be a message, if that ended the connection. */
  get violation(): string | undefined {
    return this.#channel.violation;
  }

  async start(): Promise<void> {
    this.#channel.open({
      message: (text) => this.#receive(text),
      closed: () => void this.close(),
    });
  }

  /** Resolves when the message has left this process, or never will. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const text = JSON.stringify(message);
    this.#unreadBytes += text.length;
    this.#updateReading();
    return new Promise((resolve) => {
      this.#channel.send(text, () => {
        this.#unreadBytes -= text.length;
        if (!this.#closed) this.#calls.done(message);
        this.#updateReading();
        resolve();
      });
    });
  }

  /** The streams belong to the caller. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#channel.pause();
    this.onclose?.();
  }

  #receive(text: string): void {
    if (this.#closed) return;
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch (error) {
      this.onerror?.(error as Error);
      return;
    }
    const { data, error } = JSONRPCMessageSchema.safeParse(json);
    if (data) this.#calls.receive(data, text.length);
    else this.#refuse(json, error);
    this.#updateReading();
  }

  /** Reads no more from a client that does not read, or sends far more than is worked on at a time. */
  #updateReading(): void {
    if (this.#closed) return;
    const isFull = this.#unreadBytes > MAX_UNREAD_BYTES || this.#calls.waitingBytes > MAX_WAITING_BYTES;
    if (isFull) this.#channel.pause();
    else this.#channel.resume();
  }

  /** What asks for an answer gets one. */
  #refuse(json: unknown, error: Error): void {
    this.onerror?.(error);
    const id = requestId(json);
    if (id === undefined) return;
    const message = 'This is not a JSON-RPC 2.0 message.';
    void this.send({ jsonrpc: '2.0', id, error: { code: ErrorCode.InvalidRequest, message } });
  }
}

function requestId(json: unknown): RequestId | undefined {
  if (typeof json !== 'object' || json === null || !('method' in json) || !('id' in json)) return undefined;
  const { id } = json;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
