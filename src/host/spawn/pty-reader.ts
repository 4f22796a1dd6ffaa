import { ReadStream } from 'node:tty';
import { CHUNK_BYTES } from './chunk-memory.js';
import { readFlood } from './flood-read.js';
import { fillBuffer, readBuffer } from './kernel-read.js';
import { OutputReader, type ReaderEvents } from './output-reader.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** More than a pty can hold (64 KiB of flip buffers, 4 KiB in the line discipline, slack for rounding). */
const PTY_KERNEL_BYTES = 128 * 1024;
/**
 * After a turn that brings this much we read again: it exceeds what the kernel holds, so it was printed while we read.
 */
const FLOOD_BYTES = 16 * 1024;

/**
 * Reads a terminal. libuv treats "some bytes and a hang-up" as the end and drops the rest, so the hang-up must not
 * happen before we have read everything: our slave descriptor stays open until the child is reaped and the terminal is
 * empty. When background jobs then let go of the terminal, the rest is read directly.
 */
export class PtyReader extends OutputReader {
  readonly #terminal: PseudoTerminal;
  #leaderGone = false;
  #hungUp = false;
  #floods = false;
  #settling: NodeJS.Immediate | undefined;

  constructor(terminal: PseudoTerminal, events: ReaderEvents) {
    super(events);
    this.#terminal = terminal;
    const callback = (count: number): boolean => {
      this.#coalesce(count);
      return true;
    };
    // The typings allow `onread` for sockets only; a terminal stream passes its options on to the socket.
    const options = { onread: { buffer: readBuffer, callback } } as object;
    const stream = new ReadStream(terminal.handOverMaster(), options);
    this.attach(stream);
    // Not `resume`, which would start reading again in a later tick even if `pause` was called in between.
    stream.read(0);
  }

  protected override get fd(): number {
    return this.#terminal.control;
  }

  override resume(): void {
    super.resume();
    if (this.#leaderGone || this.#hungUp) this.#settleSoon();
  }

  override leaderExited(): void {
    this.#leaderGone = true;
    this.#settle(PTY_KERNEL_BYTES);
  }

  protected override streamOver(): void {
    this.#hungUp = true;
    this.#settle(PTY_KERNEL_BYTES);
  }

  protected override kernelBytes(): number {
    return PTY_KERNEL_BYTES;
  }

  protected override release(): void {
    clearImmediate(this.#settling);
    this.#terminal.close();
  }

  /** libuv reads 4 KiB at most; anything else available goes into the same chunk. */
  #coalesce(count: number): void {
    const filled = this.#floods ? readFlood(this.fd, count) : fillBuffer(this.fd, count).filled;
    this.#floods = filled >= FLOOD_BYTES;
    this.emit(filled);
  }

  #settleSoon(): void {
    clearImmediate(this.#settling);
    this.#settling = setImmediate(() => this.#settle(CHUNK_BYTES));
  }

  /** Reads what is left after the child's end or a hang-up, and ends once nobody else has the terminal open. */
  #settle(limit: number): void {
    if (this.ended || this.paused) return;
    let state = this.drain(limit);
    if (state === 'empty' && this.#leaderGone && this.#terminal.releaseSlave()) state = this.drain(limit);
    if (state === 'end' || (state === 'empty' && this.#hungUp)) this.finish();
    else if (state === 'full' && !this.paused) this.#settleSoon();
  }
}
