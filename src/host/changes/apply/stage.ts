import { closeSync, constants, linkSync, mkdirSync, openSync, readlinkSync, symlinkSync } from 'node:fs';
import { makeNode, openBeneath, TimeSlice } from '../../kernel/index.js';
import { openHeldFile, withHandle } from '../accessible.js';
import { entryOf, nameOf, parentOf } from '../byte-path.js';
import { heldAttributes } from '../node.js';
import { inodeOf } from '../scan.js';
import { attributesOf, setAttributes } from './attributes.js';
import { copyContent } from './copy-content.js';
import type { RootChanges, Staged } from './plan.js';

/** New files belong to us alone until they have their attributes. */
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/** Writes everything new beside its place. Nothing that exists is changed. */
export async function stage(root: RootChanges, staged: readonly Staged[]): Promise<void> {
  const stager = new Stager(root);
  try {
    for (const each of staged) await stager.write(each);
  } finally {
    stager.close();
  }
  stager.finish();
}

class Stager {
  readonly #root: RootChanges;
  readonly #slice = new TimeSlice();
  /** Where each file with several names was written first, by its number. */
  readonly #links = new Map<string, string>();
  readonly #directories: Staged[] = [];
  /** The last two directories, held and new: files of one directory follow each other. */
  readonly #open = new Map<'held' | 'new', { path: string; fd: number }>();

  constructor(root: RootChanges) {
    this.#root = root;
  }

  async write(staged: Staged): Promise<void> {
    const { change, at } = staged;
    const { held, path } = change;
    if (held === null) return;
    const target = entryOf(this.#directory('new', parentOf(at)), nameOf(at));
    const source = entryOf(this.#directory('held', parentOf(path)), nameOf(path));
    if (held.isDirectory()) {
      mkdirSync(target, { mode: PRIVATE_DIRECTORY });
      this.#directories.push(staged);
    } else if (!this.#link(staged, target)) {
      if (held.isFile()) await this.#copy(source, target, held);
      else if (held.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), target);
      else makeNode(target, { mode: Number(held.mode), device: Number(held.rdev) });
      const attributes = attributesOf(held, heldAttributes(source));
      withHandle(target, (handle) => setAttributes(handle, attributes));
      if (held.nlink > 1n) this.#links.set(inodeOf(held), at);
    }
    await this.#slice.yieldIfOver();
  }

  /** Directories get theirs when they are full. */
  finish(): void {
    for (const { change, at } of this.#directories.toReversed()) {
      const { held, path } = change;
      if (held === null) continue;
      const attributes = attributesOf(
        held,
        heldAttributes(entryOf(this.#directory('held', parentOf(path)), nameOf(path))),
      );
      const target = entryOf(this.#directory('new', parentOf(at)), nameOf(at));
      withHandle(target, (handle) => setAttributes(handle, attributes));
    }
    this.close();
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  /** Another name of a file that was written before, or that is the same below. */
  #link({ change: { held } }: Staged, target: Buffer): boolean {
    if (held === null || held.nlink === 1n) return false;
    const first = this.#links.get(inodeOf(held)) ?? this.#root.unchangedLinks.get(inodeOf(held));
    if (first === undefined) return false;
    const directory = openBeneath(this.#root.layers.base, Buffer.from(parentOf(first), 'latin1'));
    try {
      linkSync(entryOf(directory, nameOf(first)), target);
      return true;
    } finally {
      closeSync(directory);
    }
  }

  async #copy(source: Buffer, target: Buffer, held: NonNullable<Staged['change']['held']>): Promise<void> {
    const from = openHeldFile(source, held);
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      const to = openSync(target, flags, PRIVATE_FILE);
      try {
        await copyContent({ fd: from, node: held }, to, this.#slice);
      } finally {
        closeSync(to);
      }
    } finally {
      closeSync(from);
    }
  }

  #directory(side: 'held' | 'new', path: string): number {
    const known = this.#open.get(side);
    if (known?.path === path) return known.fd;
    const { upper, base } = this.#root.layers;
    const fd = openBeneath(side === 'held' ? upper : base, Buffer.from(path, 'latin1'));
    if (known) closeSync(known.fd);
    this.#open.set(side, { path, fd });
    return fd;
  }
}
