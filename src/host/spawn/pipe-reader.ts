import { Socket } from 'node:net';
import { acquireChunk, releaseChunk, WORTH_POOLING_BYTES } from './chunk-memory.js';
import { waitingBytes } from './descriptors.js';
import { readBuffer } from './kernel-read.js';
import { OutputReader, type ReaderEvents } from './output-reader.js';

/**
 * Reads stdout or stderr from a pipe: into memory all readers share, and while a program floods, into memory that becomes
 * the chunk itself.
 */
export class PipeReader extends OutputReader {
  protected readonly fd: number;
  /** The memory of the next chunk, while the program floods. */
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
    // With a buffer of ours libuv reads only while we want it to: a pause leaves everything in the kernel.
    // The typings know `onread` for connections only; the constructor takes it too.
    const options = { fd, readable: true, writable: false, onread: { buffer, callback } };
    this.attach(new Socket(options));
  }

  override leaderExited(): void {
    if (!this.ended && this.drain(this.kernelBytes()) === 'end') this.finish();
  }

  /** A large read makes the next one likely to be large too. */
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
