import type { FileHandle } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { BLOCK_BYTES, type CopyJob } from './copy-job.js';
import { type FilePlace, type Original, withPathInError } from './file-place.js';
import type { Asked, LineBudget } from './line-budget.js';
import type { Fill } from './place-file.js';

const CUT_SHORT = 'The file was cut short while it was copied; copy it again.';

interface Block {
  readonly bytes: Uint8Array;
  readonly eof: boolean;
}

/** A path that was opened, with its first blocks requested, before it was known to be a file. */
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
      // An error is reported when it is this block's turn.
      block.catch(() => undefined);
      this.#blocks.set(offset, block);
    }
  }

  /** Returns a block once; it is not kept any longer. */
  take(offset: number): Promise<Block> | undefined {
    const block = this.#blocks.get(offset);
    this.#blocks.delete(offset);
    return block;
  }

  /** When a block was requested; undefined if it was not. */
  asked(offset: number): Asked | undefined {
    return this.#blocks.has(offset) ? this.#asked : undefined;
  }

  /** Call if it was not a file, or its content is not needed. */
  async close(): Promise<void> {
    this.#blocks.clear();
    await this.handle.then((handle) => handle.close()).catch(() => undefined);
  }
}

/** Fills a file with the content of another, many blocks concurrently. */
export function fillFrom(from: Original & { readonly size: number }, to: FilePlace, job: CopyJob): Fill {
  let { firstBlocks } = from;
  return async (destination) => {
    const asked = firstBlocks;
    // A retry reads from the file again.
    firstBlocks = undefined;
    const opening = asked?.handle ?? from.files.open(from.path, { ahead: true });
    const source = await withPathInError(from, opening);
    const blocks = new BlocksInFlight(
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

/** Resolves when all content has arrived and the source is closed. */
async function endOf(blocks: BlocksInFlight, { machine }: FilePlace, source: FileHandle): Promise<void> {
  try {
    await blocks.arrived();
  } finally {
    const closed = source.close();
    // All content is here, so closing a remote file is not worth waiting for.
    if (machine === undefined) await closed;
    else closed.catch(() => undefined);
  }
}

/** The file being read and the one being written. */
interface Ends {
  readonly from: Original & { readonly size: number };
  readonly source: FileHandle;
  readonly to: FilePlace;
  readonly destination: FileHandle;
}

class BlocksInFlight {
  readonly #ends: Ends;
  readonly #job: CopyJob;
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  /** The end of the file, once seen. */
  #end = Number.POSITIVE_INFINITY;
  /** The end of the content read so far. */
  #reached = 0;

  constructor(ends: Ends, job: CopyJob) {
    this.#ends = ends;
    this.#job = job;
  }

  /** Resolves when the last block has been sent to the destination. */
  async sendAll(): Promise<void> {
    const { from } = this.#ends;
    let handedOver: Promise<void>[] = [];
    for (let next = 0; next < this.#end; next += BLOCK_BYTES) {
      // The file may have grown, which only its end tells, so blocks beyond its listed size are requested one by one. If that
      // size is a whole number of blocks, the one that shows the end is requested with the others.
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
    // Some small files of the kernel report a size larger than their content.
    const isShort = this.#end < from.size && from.size > BLOCK_BYTES;
    if (isShort || this.#reached > this.#end)
      await withPathInError(from, Promise.reject(new ExecError('ioFailed', CUT_SHORT)));
  }

  /** Resolves when everything sent has been written. */
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
    // Blocks from another machine bring their own memory.
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
    // Blocks are read concurrently, so in a growing file one block may see the end and a later one more content. Both are valid.
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
