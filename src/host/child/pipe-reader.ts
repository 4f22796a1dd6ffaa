import { Socket } from 'node:net';
import { waitingBytes } from './descriptors.js';
import { readBuffer } from './kernel-read.js';
import { OutputReader, type ReaderEvents } from './output-reader.js';

/** Reads stdout or stderr from a pipe. */
export class PipeReader extends OutputReader {
  protected readonly fd: number;

  /** Owns the descriptor. */
  constructor(fd: number, events: ReaderEvents) {
    super(events);
    this.fd = fd;
    const callback = (count: number): boolean => {
      this.emit(count);
      return true;
    };
    // With a buffer of ours libuv reads only while we want it to: a pause leaves everything in the kernel.
    // The typings know `onread` for connections only; the constructor takes it too.
    const options = { fd, readable: true, writable: false, onread: { buffer: readBuffer, callback } };
    this.attach(new Socket(options));
  }

  override leaderExited(): void {
    if (!this.ended && this.drain(this.kernelBytes()) === 'end') this.finish();
  }

  protected override streamOver(): void {
    this.finish();
  }

  protected override kernelBytes(): number {
    return waitingBytes(this.fd);
  }
}
