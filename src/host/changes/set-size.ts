import { closeSync, lstatSync, readFileSync, renameSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, TimeSlice } from '../kernel/index.js';
import { openDirectory } from './accessible.js';
import { entryOf } from './byte-path.js';
import { isFull } from './full-disk.js';
import { nodeOfDirectory } from './node.js';
import { withAccess } from './opened-directories.js';
import { namesIn } from './scan.js';
import { exceeds, MAX_DEPTH, NOTHING, type Size } from './set-limits.js';

/** The unit of `blocks`, whatever the file system. */
const BLOCK_BYTES = 512;

const FILE = 'size.json';

const GONE: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/** What is held in a set, as far as it was measured. */
export interface MeasuredSize extends Size {
  readonly tooDeep: boolean;
}

/** Measures what is held in a set. Stops early when it is more than `largest`: how much more makes no difference. */
export async function measure(directory: string, roots: number, largest: Size): Promise<MeasuredSize> {
  const walk = new Walk(largest);
  for (let root = 0; root < roots && !walk.isOver; root += 1) {
    await walk.enter(join(directory, String(root), 'upper'), 0);
  }
  return { ...walk.size, tooDeep: walk.tooDeep };
}

class Walk {
  readonly #largest: Size;
  readonly #slice = new TimeSlice();
  /** A file with several names is counted once. */
  readonly #linked = new Set<string>();
  #size = NOTHING;
  #tooDeep = false;

  constructor(largest: Size) {
    this.#largest = largest;
  }

  get size(): Size {
    return this.#size;
  }

  get tooDeep(): boolean {
    return this.#tooDeep;
  }

  get isOver(): boolean {
    return this.#tooDeep || exceeds(this.#size, this.#largest);
  }

  async enter(path: Buffer | string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) {
      this.#tooDeep = true;
      return;
    }
    const fd = openOrGone(path);
    if (fd === null) return;
    try {
      await withAccess(fd, nodeOfDirectory(fd), () => this.#directory(fd, depth));
    } finally {
      closeSync(fd);
    }
  }

  async #directory(fd: number, depth: number): Promise<void> {
    for (const name of namesIn(fd)) {
      const path = entryOf(fd, name);
      const node = lstatSync(path, { throwIfNoEntry: false });
      if (node === undefined) continue;
      this.#count(node);
      if (node.isDirectory()) await this.enter(path, depth + 1);
      if (this.isOver) return;
      await this.#slice.yieldIfOver();
    }
  }

  #count(node: Stats): void {
    const { bytes, files } = this.#size;
    const isLinked = node.nlink > 1 && !node.isDirectory();
    const inode = `${node.dev}:${node.ino}`;
    const counted = isLinked && this.#linked.has(inode) ? 0 : node.blocks * BLOCK_BYTES;
    if (isLinked) this.#linked.add(inode);
    this.#size = { bytes: bytes + counted, files: files + 1 };
  }
}

/** Null if a program removed it meanwhile, or put something else there. */
function openOrGone(path: Buffer | string): number | null {
  try {
    return openDirectory(path);
  } catch (error) {
    if (GONE.includes(errnoOf(error))) return null;
    throw error;
  }
}

/** What was measured last, by whatever process. */
export function storedSize(directory: string): Size {
  try {
    const { bytes, files } = JSON.parse(readFileSync(join(directory, FILE), 'utf8')) as Partial<Size>;
    return { bytes: Number(bytes) || 0, files: Number(files) || 0 };
  } catch {
    return NOTHING;
  }
}

/** For other processes. On a full disk they find the size of before. */
export function storeSize(directory: string, { bytes, files }: Size): void {
  const beside = join(directory, `${FILE}.new`);
  try {
    writeFileSync(beside, JSON.stringify({ bytes, files }), { mode: 0o600 });
    renameSync(beside, join(directory, FILE));
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}
