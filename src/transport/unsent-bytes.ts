import type { Socket } from 'node:net';
import { handleOf } from './descriptor-of.js';

/** Chunks that have left are dropped from the list in batches, so that each costs little. */
const MAX_DEAD_CHUNKS = 256;

/**
 * What was written to a socket and has not left this process. Node only reports how much that is, so every chunk is recorded
 * until it has left.
 */
export class UnsentBytes {
  readonly #socket: Socket;
  #chunks: Uint8Array[] = [];
  /** How many of them have left. */
  #dead = 0;
  /** Of the others. */
  #bytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    const noted = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      this.#chunks.push(bytes);
      this.#bytes += bytes.length;
      const hasRoom = write(bytes, ...rest);
      this.prune();
      return hasRoom;
    };
    socket.write = noted;
  }

  /** Forgets what has left. */
  prune(): void {
    const unsent = this.#socket.writableLength;
    for (let first = this.#chunks[this.#dead]; first; first = this.#chunks[this.#dead]) {
      if (this.#bytes - first.length < unsent || unsent === this.#bytes) break;
      this.#bytes -= first.length;
      this.#dead += 1;
    }
    if (this.#dead < MAX_DEAD_CHUNKS && this.#dead < this.#chunks.length) return;
    this.#chunks = this.#chunks.slice(this.#dead);
    this.#dead = 0;
  }

  /** All of it; null if unknown. More may leave as soon as the event loop continues. */
  read(): Buffer | null {
    const waiting = waitingIn(this.#socket);
    if (waiting === null || waiting > this.#bytes) return null;
    const all = Buffer.concat(this.#chunks.slice(this.#dead));
    return all.subarray(all.length - waiting);
  }
}

/** How many bytes wait in the stream, or in libuv below it, which may have sent a part of a chunk. Null if unknown. */
function waitingIn(socket: Socket): number | null {
  const queued = Reflect.get(Object(handleOf(socket)), 'writeQueueSize') as unknown;
  const buffered = Reflect.get(socket, 'writableBuffer') as unknown;
  if (typeof queued !== 'number' || !Array.isArray(buffered)) return null;
  const chunks = buffered.map((each: unknown) => Reflect.get(Object(each), 'chunk') as unknown);
  if (!chunks.every((chunk) => chunk instanceof Uint8Array)) return null;
  return chunks.reduce((sum, chunk) => sum + chunk.length, queued);
}
