import {
  type BigIntStats,
  chmodSync,
  closeSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { openBeneath, type TimeSlice } from '../../kernel/index.js';
import { entryOf, pathOfDirectory } from '../byte-path.js';
import { nodeAt } from '../node.js';

/** A level takes a descriptor and stack, so what is deeper is moved up first. */
const MAX_LEVELS = 256;

/**
 * Removes what is at a name in an open directory, and everything in it. Not an error if there is nothing. What is mounted in it
 * is somebody else's: then it throws.
 */
export async function removeTree(directory: number, name: string, slice: TimeSlice): Promise<void> {
  const path = entryOf(directory, name);
  const node = nodeAt(path);
  if (node === undefined) return;
  if (!node.isDirectory()) return unlinkSync(path);
  const top = openBeneath(directory, Buffer.from(name, 'latin1'));
  try {
    openUp(top, node);
    await new Removal(top, slice).run();
  } finally {
    closeSync(top);
  }
  rmdirSync(path);
}

/** A directory in an open one. */
interface Inner {
  readonly directory: number;
  readonly name: Buffer;
  readonly node: BigIntStats;
  readonly level: number;
}

/** Empties one directory, however deep. */
class Removal {
  readonly #top: number;
  readonly #slice: TimeSlice;
  #moved = 0;

  constructor(top: number, slice: TimeSlice) {
    this.#top = top;
    this.#slice = slice;
  }

  async run(): Promise<void> {
    for (let moved = -1; moved !== this.#moved; ) {
      moved = this.#moved;
      await this.#empty(this.#top, 0);
    }
  }

  async #empty(directory: number, level: number): Promise<void> {
    for (const name of readdirSync(pathOfDirectory(directory), { encoding: 'buffer' })) {
      const path = entryOf(directory, name.toString('latin1'));
      const node = nodeAt(path);
      if (node?.isDirectory()) await this.#remove({ directory, name, node, level: level + 1 });
      else if (node) unlinkSync(path);
      await this.#slice.yieldIfOver();
    }
  }

  async #remove({ directory, name, node, level }: Inner): Promise<void> {
    const path = entryOf(directory, name.toString('latin1'));
    const inner = openBeneath(directory, name);
    try {
      openUp(inner, node);
      if (level > MAX_LEVELS) return this.#moveUp(path);
      await this.#empty(inner, level);
    } finally {
      closeSync(inner);
    }
    rmdirSync(path);
  }

  /** The next pass finds it there. */
  #moveUp(path: Buffer): void {
    let place: Buffer;
    do {
      this.#moved += 1;
      place = entryOf(this.#top, `.execwire-removed-${this.#moved}`);
    } while (nodeAt(place) !== undefined);
    renameSync(path, place);
  }
}

/** What we own we may remove, whatever its mode says. */
function openUp(directory: number, node: BigIntStats): void {
  const isOurs = node.uid === BigInt(process.geteuid?.() ?? 0);
  if (isOurs && (node.mode & 0o700n) !== 0o700n)
    chmodSync(`/proc/self/fd/${directory}`, (Number(node.mode) & 0o7777) | 0o700);
}
