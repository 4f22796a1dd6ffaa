import { type OutputPlace } from '../../contract/index.js';
import { libc, linux } from '../kernel/index.js';
import { CHUNK_BYTES } from './chunk-memory.js';
import { doNotBlock, waitingBytes } from './descriptors.js';
import { fillBuffer, type ReadState } from './kernel-read.js';
import type { ReaderEvents } from './output-reader.js';
import type { PseudoTerminal } from './pseudo-terminal.js';
import { type Moved, moveInto, SplicedReader } from './spliced-reader.js';

/** A pipe between a terminal and a file: the kernel moves bytes only into a pipe or out of one. */
export interface Passage {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** A terminal has no more at a time. The kernel takes memory for as much as is asked for. */
const READ_BYTES = 4096;
/** What the passage takes: a page for each read of the terminal. */
const PASSAGE_READS = 16;
/** After a turn that brings this much, the program is flooding. */
const FLOOD_BYTES = 16 * 1024;
/** See `readFlood`. */
const QUIET_MS = 0.5;
const TURN_MS = 1;

/**
 * Takes the output of a terminal by way of a pipe. The end of a terminal is known only when nobody has it open, so our own
 * descriptor of it is closed when the child has ended and everything it printed is read.
 */
export class SplicedTerminalReader extends SplicedReader {
  readonly #terminal: PseudoTerminal;
  readonly #passage: Passage;
  #leaderGone = false;
  #floods = false;
  #hasEnded = false;

  /** Owns the terminal and the passage. */
  constructor(
    terminal: PseudoTerminal,
    passage: Passage,
    options: { place: OutputPlace; events: ReaderEvents },
  ) {
    super('pty', terminal.control, options);
    this.#terminal = terminal;
    this.#passage = passage;
  }

  override start(): this {
    super.start();
    this.#lookIntoPassage();
    return this;
  }

  override resume(): void {
    super.resume();
    this.#lookIntoPassage();
    if (this.#leaderGone) setImmediate(() => this.#settle());
  }

  override leaderExited(): void {
    this.#leaderGone = true;
    this.#settle();
  }

  protected override ready(): void {
    super.ready();
    if (this.#leaderGone) this.#settle();
  }

  protected override release(): void {
    this.#terminal.close();
    libc().close(this.#passage.readEnd);
    libc().close(this.#passage.writeEnd);
  }

  protected override look(): 'ready' | 'empty' | 'end' {
    const filled = this.#fill();
    this.#floods = filled >= FLOOD_BYTES;
    // Something may be left of an earlier server.
    if (filled > 0 || waitingBytes(this.#passage.readEnd) > 0) return 'ready';
    return this.#hasEnded ? 'end' : 'empty';
  }

  protected override move(target: number, position: BigInt64Array): Moved {
    return moveInto(this.#passage.readEnd, target, { position, maxBytes: CHUNK_BYTES });
  }

  /** It waits for more itself. */
  protected override isWorthAnother(moved: number): boolean {
    return moved === CHUNK_BYTES;
  }

  /** A terminal never waits; what is left in the passage is read once. */
  protected override prepareToRead(): void {
    doNotBlock(this.#passage.readEnd, 'read');
  }

  protected override readDirectly(): { filled: number; state: ReadState } {
    const left = waitingBytes(this.#passage.readEnd) > 0 ? fillBuffer(this.#passage.readEnd, 0) : null;
    return left ?? fillBuffer(this.fd, 0);
  }

  /** What an earlier server left there is taken at once: the terminal may have nothing more to tell us of. */
  #lookIntoPassage(): void {
    if (waitingBytes(this.#passage.readEnd) === 0) return;
    setImmediate(() => {
      if (!this.ended && !this.paused) this.ready();
    });
  }

  #settle(): void {
    if (this.ended || this.paused) return;
    let state = this.drain();
    if (state === 'empty' && this.#terminal.releaseSlave()) state = this.drain();
    if (state === 'end') this.finish();
  }

  /** Moves what the terminal has into the passage, 4 KiB at a time. Returns how much it moved. */
  #fill(): number {
    const { splice, errno, schedYield } = libc();
    const began = performance.now();
    let [filled, now, heardAt] = [0, began, began];
    for (let reads = 0; reads < PASSAGE_READS && filled < CHUNK_BYTES; ) {
      if (!this.#floods || waitingBytes(this.fd) > 0) {
        const moved = splice(
          this.fd,
          null,
          this.#passage.writeEnd,
          null,
          READ_BYTES,
          linux.SPLICE_F_NONBLOCK,
        );
        if (moved <= 0) {
          // A terminal reports EIO once its last user is gone.
          this.#hasEnded = moved === 0 || !['EAGAIN', 'EINTR'].includes(errno());
          return filled;
        }
        reads += 1;
        filled += moved;
        if (this.#floods) heardAt = performance.now();
        continue;
      }
      schedYield();
      now = performance.now();
      // The last word belongs to a call that can tell the end.
      if (now - heardAt >= QUIET_MS || now - began >= TURN_MS) this.#floods = false;
    }
    return filled;
  }
}
