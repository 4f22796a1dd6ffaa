import { type BigIntStats, closeSync, readdirSync, readlinkSync } from 'node:fs';
import { errnoOf, TimeSlice } from '../kernel/index.js';
import { openDirectory } from './accessible.js';
import { entryOf, join, pathOfDirectory } from './byte-path.js';
import {
  heldAttributes,
  isOpaque,
  isWhiteout,
  looksLikePlaceholder,
  nodeAt,
  nodeOfDirectory,
  type NodeType,
  plainAttributes,
  sameAttributes,
  typeOf,
} from './node.js';
import { isOwn, withAccess } from './opened-directories.js';
import { sameContent } from './same-content.js';
import { requireDepth } from './set-limits.js';

/** How something differs from what is below. */
export type ChangeKind =
  | 'created'
  | 'modified'
  | 'deleted'
  | 'typeChanged'
  | 'linkChanged'
  | 'attributesChanged';

/** One difference between a held directory and the one below. */
export interface FoundChange {
  /** Relative to the root, one character per byte. */
  readonly path: string;
  readonly kind: ChangeKind;
  /** What is held; null if it was deleted. */
  readonly held: BigIntStats | null;
  /** What is below; null if there is nothing. */
  readonly base: BigIntStats | null;
}

/** One directory whose changes are held, both layers open. */
export interface Layers {
  readonly upper: number;
  readonly base: number;
  /** The device of the base: what is mounted below it is not part of it. */
  readonly device: bigint;
}

/** All changes of one directory. */
export interface ScanResult {
  /** Directories before what is in them. */
  readonly changes: readonly FoundChange[];
  /** Held files that are the same below and have another name, by `inodeOf`. */
  readonly unchangedLinks: ReadonlyMap<string, string>;
}

/**
 * Finds all changes. The cost follows the changes, not the size of the directory below. `isQuiet`: whether no program can
 * write meanwhile.
 */
export async function scan(
  layers: Layers,
  attributes: string,
  { isQuiet }: { readonly isQuiet: () => boolean },
): Promise<ScanResult> {
  const { upper, base } = layers;
  return await withAccess(upper, nodeOfDirectory(upper), async () => {
    const result = { changes: rootChange(layers, attributes), unchangedLinks: new Map<string, string>() };
    await new Scan(layers, { result, isQuiet }).directory('', { upper, base, opaque: false });
    return result;
  });
}

/** Whether the attributes of the directory itself are still those it was given. */
function rootChange({ upper, base }: Layers, attributes: string): FoundChange[] {
  const [ours, theirs] = [pathOfDirectory(upper), pathOfDirectory(base)];
  if (ownAttributes(ours) === attributes) return [];
  const [held, below] = [nodeAt(ours), nodeAt(theirs)];
  if (!held || !below || !differsAsDirectory({ entry: ours, held }, { entry: theirs, node: below }))
    return [];
  return [{ path: '', kind: 'attributesChanged', held, base: below }];
}

/** The mode and the extended attributes of a held directory, as a text to compare. */
export function ownAttributes(path: Buffer): string {
  const extended = heldAttributes(path).map(({ name, value }) => [name, value.toString('base64')]);
  return JSON.stringify([String(nodeAt(path)?.mode), extended]);
}

/** Names of one file have this in common. */
export function inodeOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

interface Directories {
  readonly upper: number;
  /** Null if there is none below. */
  readonly base: number | null;
  /** Nothing of the one below is seen. */
  readonly opaque: boolean;
}

const NOTHING_LEFT: ReadonlySet<string> = new Set();

/** Until something is awaited, every level of directories is on the stack. */
const UNWOUND = Promise.resolve();

/** A name in a directory, and what is there. */
interface Place extends Directories {
  readonly name: string;
  readonly held: BigIntStats;
  readonly below: BigIntStats | null;
}

class Scan {
  readonly #device: bigint;
  readonly #result: { readonly changes: FoundChange[]; readonly unchangedLinks: Map<string, string> };
  readonly #slice = new TimeSlice();
  readonly #isQuiet: () => boolean;
  #depth = 0;

  constructor(
    { device }: Layers,
    {
      result,
      isQuiet,
    }: {
      result: { changes: FoundChange[]; unchangedLinks: Map<string, string> };
      isQuiet: () => boolean;
    },
  ) {
    this.#device = device;
    this.#result = result;
    this.#isQuiet = isQuiet;
  }

  async directory(path: string, { upper, base, opaque }: Directories): Promise<void> {
    this.#descend();
    await UNWOUND;
    const names = namesIn(upper);
    for (const name of names) {
      const held = nodeAt(entryOf(upper, name));
      // A program removed it meanwhile.
      if (held === undefined) continue;
      const below = base === null ? null : this.#below(base, name);
      await this.#entry(join(path, name), { name, upper, base, opaque, held, below });
      await this.#slice.yieldIfOver();
    }
    if (opaque && base !== null) await this.#missing(path, base, new Set(names));
    this.#depth -= 1;
  }

  #descend(): void {
    requireDepth(this.#depth);
    this.#depth += 1;
  }

  /** What is no longer in a directory, and everything that was in it. */
  async #missing(path: string, base: number, present: ReadonlySet<string>): Promise<void> {
    for (const name of readableNames(base)) {
      const below = present.has(name) ? null : this.#below(base, name);
      if (below === null) continue;
      this.#add({ path: join(path, name), kind: 'deleted', held: null, base: below });
      await this.#missingInside(join(path, name), { base, name, below });
      await this.#slice.yieldIfOver();
    }
  }

  /** What was in a directory that is gone, or is none any more. */
  async #missingInside(
    path: string,
    { base, name, below }: { base: number | null; name: string; below: BigIntStats },
  ): Promise<void> {
    if (base === null || !below.isDirectory()) return;
    this.#descend();
    await UNWOUND;
    const inner = openDirectory(entryOf(base, name));
    try {
      await withBase(inner, () => this.#missing(path, inner, NOTHING_LEFT));
    } finally {
      closeSync(inner);
      this.#depth -= 1;
    }
  }

  async #entry(path: string, place: Place): Promise<void> {
    const { held, below } = place;
    if (isWhiteout(held)) {
      if (below === null) return;
      this.#add({ path, kind: 'deleted', held: null, base: below });
      return await this.#missingInside(path, { ...place, below });
    }
    if (held.isDirectory()) return await this.#subdirectory(path, place);
    if (below === null) return this.#add({ path, kind: 'created', held, base: null });
    if (typeOf(held) !== typeOf(below)) {
      this.#add({ path, kind: 'typeChanged', held, base: below });
      return await this.#missingInside(path, { ...place, below });
    }
    const kind = await this.#difference(place, below);
    if (kind) this.#add({ path, kind, held, base: below });
    else if (held.nlink > 1n) this.#result.unchangedLinks.set(inodeOf(held), path);
  }

  async #subdirectory(
    path: string,
    { name, upper, base, opaque: inOpaque, held, below }: Place,
  ): Promise<void> {
    const entry = entryOf(upper, name);
    const inner = openDirectory(entry);
    try {
      const isMerged = below?.isDirectory() === true;
      const isPlaceholder = !isMerged && looksLikePlaceholder(held);
      if (isPlaceholder && (await withAccess(inner, held, () => namesIn(inner))).length === 0) return;
      if (!isMerged) this.#add({ path, kind: below ? 'typeChanged' : 'created', held, base: below });
      else if (differsAsDirectory({ entry, held }, { entry: entryOf(base ?? -1, name), node: below }))
        this.#add({ path, kind: 'attributesChanged', held, base: below });
      // What took the place of a directory need not be marked again further down.
      const opaque = isMerged && (inOpaque || isOpaque(entry));
      const lower = isMerged && base !== null ? openDirectory(entryOf(base, name)) : null;
      try {
        const enter = (): Promise<void> => this.directory(path, { upper: inner, base: lower, opaque });
        await withAccess(inner, held, () => (lower === null ? enter() : withBase(lower, enter)));
      } finally {
        if (lower !== null) closeSync(lower);
      }
    } finally {
      closeSync(inner);
    }
  }

  async #difference(
    { name, upper, base, held }: Omit<Place, 'below'>,
    below: BigIntStats,
  ): Promise<ChangeKind | null> {
    const [ours, theirs] = [entryOf(upper, name), entryOf(base ?? -1, name)];
    if (held.isFile()) {
      const files = { held: { path: ours, node: held }, base: { path: theirs, node: below } };
      const same = await sameContent(files, { slice: this.#slice, isQuiet: this.#isQuiet });
      if (!same) return 'modified';
    }
    if (held.isSymbolicLink() && !readlinkSync(ours, 'buffer').equals(readlinkSync(theirs, 'buffer')))
      return 'linkChanged';
    const same =
      sameOwnerAndMode(held, below) &&
      held.mtimeNs === below.mtimeNs &&
      sameAttributes(heldAttributes(ours), plainAttributes(theirs));
    return same ? null : 'attributesChanged';
  }

  /** What is below. Null if there is nothing, or something that is mounted there. */
  #below(base: number, name: string): BigIntStats | null {
    const node = nodeAt(entryOf(base, name));
    return node === undefined || node.dev !== this.#device ? null : node;
  }

  #add(change: FoundChange): void {
    this.#result.changes.push(change);
  }
}

/** Its times follow what is in it, so they are not a change of their own. */
function differsAsDirectory(
  ours: { entry: Buffer; held: BigIntStats },
  theirs: { entry: Buffer; node: BigIntStats | null },
): boolean {
  if (theirs.node === null) return true;
  if (!sameOwnerAndMode(ours.held, theirs.node)) return true;
  return !sameAttributes(heldAttributes(ours.entry), plainAttributes(theirs.entry));
}

function sameOwnerAndMode(a: BigIntStats, b: BigIntStats): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

export function namesIn(directory: number): string[] {
  const names = readdirSync(pathOfDirectory(directory), { encoding: 'buffer' });
  return names.map((name) => name.toString('latin1')).toSorted();
}

/** A directory below that its owner has closed: a program may have opened its own view of it. */
async function withBase(directory: number, use: () => Promise<void>): Promise<void> {
  const node = nodeOfDirectory(directory);
  await (isOwn(node) ? withAccess(directory, node, use) : use());
}

/** What we may not read, we may not delete either: applying will tell. */
function readableNames(directory: number): string[] {
  try {
    return namesIn(directory);
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return [];
    throw error;
  }
}

export function typeOfChange({ held, base }: FoundChange): NodeType {
  const node = held ?? base;
  return node ? typeOf(node) : 'file';
}
