import type { FileHandle } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { BLOCK_BYTES, type CopyJob, type FilePlace, type Original, withPathInError } from './copy-file.js';
import type { Asked, LineBudget } from './line-budget.js';
import type { Fill } from './place-file.js';

const CUT_SHORT = 'The file was cut short while it was copied; copy it again.';

interface Block {
  readonly bytes: Uint8Array;
  readonly eof: boolean;
}

/** A file that was opened, and its first blocks asked for, before anybody knew what it is. */
export class FirstBlocks {
  readonly handle: Promise<FileHandle>;
  readonly #blocks = new Map<number, Promise<Block>>();
  readonly #asked: Asked;

  constructor({ files, path }: FilePlace, { count, budget }: { count: number; budget: LineBudget }) {
    this.#asked = budget.ask();
    this.handle = files.open(path, { ahead: true });
    this.handle.catch(() => undefined);
    for (let offset = 0; offset < count * BLOCK_BYTES; offset += BLOCK_BYTES) {
      const block = this.handle.then((handle) => handle.read(offset, BLOCK_BYTES));
      // Whether it matters is seen when its turn comes.
      block.catch(() => undefined);
      this.#blocks.set(offset, block);
    }
  }

  /** Each can be had once, so that it is in memory no longer than needed. */
  take(offset: number): Promise<Block> | undefined {
    const block = this.#blocks.get(offset);
    this.#blocks.delete(offset);
    return block;
  }

  /** When a block was asked for; undefined if it was not. */
  asked(offset: number): Asked | undefined {
    return this.#blocks.has(offset) ? this.#asked : undefined;
  }

  /** It was no file, or nobody wants it. */
  async close(): Promise<void> {
    this.#blocks.clear();
    await this.handle.then((handle) => handle.close()).catch(() => undefined);
  }
}

/** Fills a file with the content of another, many blocks at a time, each from its place to the same place. */
export function fillFrom(from: Original & { readonly size: number }, to: FilePlace, job: CopyJob): Fill {
  let { firstBlocks } = from;
  return async (destination) => {
    const asked = firstBlocks;
    // They can be had once, however often the file has to be filled.
    firstBlocks = undefined;
    const opening = asked?.handle ?? from.files.open(from.path, { ahead: true });
    const source = await withPathInError(from, opening);
    const blocks = new BlocksOnTheirWay(
      { from: { ...from, firstBlocks: asked }, source, to, destination },
      job,
    );
    try {
      await blocks.sendAll();
    } catch (error) {
      await Promise.allSettled([blocks.arrived(), source.close()]);
      throw error;
    }
    return { arrived: endOf(blocks, from, source) };
  };
}

/** All of it is there, and nobody reads any more. */
async function endOf(blocks: BlocksOnTheirWay, { machine }: FilePlace, source: FileHandle): Promise<void> {
  try {
    await blocks.arrived();
  } finally {
    const closed = source.close();
    // What was read is here, whatever becomes of the file far away: not worth a round trip.
    if (machine === undefined) await closed;
    else closed.catch(() => undefined);
  }
}

/** A file that is read, and one that is written. */
interface Ends {
  readonly from: Original & { readonly size: number };
  readonly source: FileHandle;
  readonly to: FilePlace;
  readonly destination: FileHandle;
}

class BlocksOnTheirWay {
  readonly #ends: Ends;
  readonly #job: CopyJob;
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  /** Where the file was seen to end. */
  #end = Number.POSITIVE_INFINITY;
  /** How far there was something in it. */
  #reached = 0;

  constructor(ends: Ends, job: CopyJob) {
    this.#ends = ends;
    this.#job = job;
  }

  /** Resolves once the last block was handed over to be written. */
  async sendAll(): Promise<void> {
    const { from } = this.#ends;
    let handedOver: Promise<void>[] = [];
    for (let next = 0; next < this.#end; next += BLOCK_BYTES) {
      // Only the end of the file says that it has not grown: what is beyond its size is asked for one by one. The end of whole
      // blocks is asked for with them.
      if (next > from.size) {
        await Promise.all(handedOver);
        handedOver = [];
        if (next >= this.#end) break;
      }
      await new Promise<void>((admitted) => {
        handedOver.push(new Promise((sent) => this.#begin(next, { admitted, sent })));
      });
      this.#throwIfStopped();
    }
    await Promise.all(handedOver);
    this.#throwIfStopped();
    // Some small files of the kernel claim to be larger than they are.
    const isShort = this.#end < from.size && from.size > BLOCK_BYTES;
    if (isShort || this.#reached > this.#end)
      await withPathInError(from, Promise.reject(new ExecError('ioFailed', CUT_SHORT)));
  }

  /** Resolves once all that was handed over is there. */
  async arrived(): Promise<void> {
    await Promise.all(this.#underWay);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #throwIfStopped(): void {
    this.#job.signal.throwIfAborted();
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #begin(offset: number, { admitted, sent }: { admitted: () => void; sent: () => void }): void {
    const spend = async (): Promise<void> => {
      admitted();
      await this.#copy(offset, sent);
    };
    const copied = this.#job.bytes
      .spend(BLOCK_BYTES, spend, this.#ends.from.firstBlocks?.asked(offset))
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => {
        admitted();
        sent();
        this.#underWay.delete(copied);
      });
    this.#underWay.add(copied);
  }

  async #copy(offset: number, onSent: () => void): Promise<void> {
    if (this.#failures.length > 0 || offset >= this.#end) return;
    const { from, source } = this.#ends;
    const asked = from.firstBlocks?.take(offset);
    // What comes from far away comes in memory of its own.
    if (asked || from.machine !== undefined)
      return await this.#pass(offset, asked ?? source.read(offset, BLOCK_BYTES), onSent);
    await this.#job.blockPool.withBlock((into) =>
      this.#pass(offset, source.read(offset, BLOCK_BYTES, into), onSent),
    );
  }

  async #pass(offset: number, reading: Promise<Block>, onSent: () => void): Promise<void> {
    const { from, to, destination } = this.#ends;
    const { bytes, eof } = await withPathInError(from, reading);
    const end = offset + bytes.length;
    const isBeyond = offset >= from.size;
    // Blocks are read side by side. A file that grows may have an end in one and go on in the next: either will do.
    const hasGrown = end >= from.size && this.#reached > end;
    if (eof && !hasGrown) this.#end = Math.min(this.#end, end);
    if (bytes.length === 0 || (isBeyond && offset >= this.#end)) return;
    this.#reached = Math.max(this.#reached, end);
    const written = withPathInError(to, destination.write(offset, bytes));
    onSent();
    await written;
    this.#job.onBytes(bytes.length);
  }
}
