import { Socket } from 'node:net';
import { acquireChunk, releaseChunk, WORTH_POOLING_BYTES } from './chunk-memory.js';
import { waitingBytes } from './descriptors.js';
import { readBuffer } from './kernel-read.js';
import { OutputReader, type ReaderEvents } from './output-reader.js';

/**
 * Reads stdout or stderr from a pipe: into a buffer all readers share or, while a program floods, straight into the
 * memory of the chunk.
 */
export class PipeReader extends OutputReader {
  protected readonly fd: number;
  /** The memory of the next chunk while the program floods. */
  #own: Buffer | undefined;

  /** Owns the descriptor. */
  constructor(fd: number, events: ReaderEvents) {
    super(events);
    this.fd = fd;
    const callback = (count: number): boolean => {
      this.#arrived(count);
      return true;
    };
    const buffer = (): Uint8Array => this.#own ?? readBuffer;
    // With our own buffer libuv reads only on demand, so a pause leaves everything in the kernel. The typings allow
    // `onread` for connections only; the constructor accepts it too.
    const options = { fd, readable: true, writable: false, onread: { buffer, callback } };
    this.attach(new Socket(options));
  }

  override leaderExited(): void {
    if (!this.ended && this.drain(this.kernelBytes()) === 'end') this.finish();
  }

  /** A large read suggests that the next one will be large, too. */
  #arrived(count: number): void {
    const own = this.#own;
    const large = count >= WORTH_POOLING_BYTES;
    this.#own = large ? acquireChunk() : undefined;
    if (own === undefined) return this.emit(count);
    if (large) return this.hand(own.subarray(0, count));
    this.hand(new Uint8Array(own.subarray(0, count)));
    releaseChunk(own);
  }

  protected override streamOver(): void {
    this.finish();
  }

  protected override kernelBytes(): number {
    return waitingBytes(this.fd);
  }
}
