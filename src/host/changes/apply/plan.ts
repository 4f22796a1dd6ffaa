import { closeSync } from 'node:fs';
import { type Attribute, isScarcity, openBeneath } from '../../kernel/index.js';
import { entryOf, join, nameOf, parentOf } from '../byte-path.js';
import { heldAttributes, nodeAt } from '../node.js';
import { type FoundChange, inodeOf, type Layers } from '../scan.js';
import { attributesOf } from './attributes.js';
import type { Journal, Step } from './journal.js';

/** One directory with what is to be applied in it. */
export interface RootChanges {
  /** Its number in the set. */
  readonly root: number;
  readonly layers: Layers;
  /** Directories before what is in them. */
  readonly changes: readonly FoundChange[];
  readonly unchangedLinks: ReadonlyMap<string, string>;
  /** Changes that cannot be applied, whoever wants it. */
  readonly covered: ReadonlySet<FoundChange>;
}

/** Something new, to be written beside its place before anything is changed. */
export interface Staged {
  readonly change: FoundChange;
  /** Where it is written, relative to the root. */
  readonly at: string;
}

/** What applying takes. */
export interface ApplyPlan {
  readonly journal: Journal;
  /** By number of the root. */
  readonly staged: ReadonlyMap<number, readonly Staged[]>;
}

/**
 * Decides on every step before anything is done. First everything new takes its place, then attributes change, then
 * things are deleted, and at last directories get their times, inner ones first.
 */
export function planApply(roots: readonly RootChanges[], token: string): ApplyPlan {
  const steps: Record<Step['do'], Step[]> = { place: [], attributes: [], delete: [], settle: [] };
  const unlocked: Journal['unlocked'] = [];
  const staged = new Map<number, Staged[]>();
  for (const each of roots) {
    const planned = new RootPlan(each, `.execwire-${token}-${each.root}`);
    for (const change of each.changes) planned.add(change);
    planned.settle();
    for (const step of planned.steps) steps[step.do].push(step);
    unlocked.push(...planned.unlocked);
    staged.set(each.root, planned.staged);
  }
  const changed = roots.flatMap(({ root, changes }) => changes.map(({ path }) => ({ root, path })));
  const ordered = [...steps.place, ...steps.attributes, ...steps.delete, ...steps.settle];
  return { journal: { phase: 'stage', steps: ordered, changed, unlocked }, staged };
}

const OWN_RIGHTS = 0o700;

class RootPlan {
  readonly steps: Step[] = [];
  readonly staged: Staged[] = [];
  readonly unlocked: { root: number; path: string; mode: number }[] = [];
  readonly #root: RootChanges;
  readonly #prefix: string;
  /** New directories, and where they are written. */
  readonly #written = new Map<string, string>();
  /** Existing directories whose entries change. */
  readonly #touched = new Set<string>();

  /** Of these, those whose attributes change, too. */
  readonly #changesMode = new Set<string>();
  /** What makes room for something else, or for nothing, and takes along everything in it. */
  readonly #gone = new Set<string>();

  constructor(root: RootChanges, prefix: string) {
    this.#root = root;
    this.#prefix = prefix;
  }

  add(change: FoundChange): void {
    const { path, kind, held, base } = change;
    const { root } = this.#root;
    if (kind === 'deleted' || kind === 'typeChanged') this.#gone.add(path);
    if (kind === 'deleted') {
      if (this.#gone.has(parentOf(path))) return;
      if (base) this.steps.push({ do: 'delete', root, path, inode: inodeOf(base) });
      this.#touched.add(parentOf(path));
    } else if (kind === 'attributesChanged' && held) {
      if (held.isDirectory()) {
        this.#touched.add(path);
        this.#changesMode.add(path);
      }
      const attributes = attributesOf(held, this.#extendedAttributes(path));
      this.steps.push({ do: 'attributes', root, path, attributes });
    } else this.#stage(change);
  }

  #stage(change: FoundChange): void {
    const { path, held } = change;
    const inside = this.#written.get(parentOf(path));
    const temporary = `${this.#prefix}-${this.staged.length}`;
    const at = inside === undefined ? join(parentOf(path), temporary) : join(inside, nameOf(path));
    this.staged.push({ change, at });
    if (held?.isDirectory()) this.#written.set(path, at);
    if (inside !== undefined) return;
    this.steps.push({ do: 'place', root: this.#root.root, path, temporary });
    this.#touched.add(parentOf(path));
  }

  /** Inner directories first: what is done in them changes the times of outer ones, and modes may lock us out. */
  settle(): void {
    const { root, layers } = this.#root;
    const inner = [...this.#touched].toSorted((a, b) => depth(b) - depth(a));
    for (const path of inner) {
      const held = nodeOf(layers.upper, path);
      const base = nodeOf(layers.base, path);
      if (!base?.isDirectory()) continue;
      const mode = Number(base.mode) & 0o7777;
      if (!mayChange(base.uid, mode)) this.unlocked.unshift({ root, path, mode });
      const { atimeNs, mtimeNs } = held?.isDirectory() ? held : base;
      const wanted = this.#changesMode.has(path) ? held?.mode : base.mode;
      this.steps.push({
        do: 'settle',
        root,
        path,
        mode: Number(wanted ?? base.mode) & 0o7777,
        atimeNs: String(atimeNs),
        mtimeNs: String(mtimeNs),
      });
    }
  }

  #extendedAttributes(path: string): Attribute[] {
    const parent = openBeneath(this.#root.layers.upper, Buffer.from(parentOf(path), 'latin1'));
    try {
      return heldAttributes(entryOf(parent, nameOf(path)));
    } finally {
      closeSync(parent);
    }
  }
}

/** A directory of ours that a program made writable before it changed something in it. */
function mayChange(uid: bigint, mode: number): boolean {
  const us = process.geteuid?.() ?? 0;
  return us === 0 || uid !== BigInt(us) || (mode & OWN_RIGHTS) === OWN_RIGHTS;
}

function nodeOf(directory: number, path: string): ReturnType<typeof nodeAt> {
  let parent: number | undefined;
  try {
    parent = openBeneath(directory, Buffer.from(parentOf(path), 'latin1'));
    return nodeAt(entryOf(parent, nameOf(path) || '.'));
  } catch (error) {
    if (isScarcity(error)) throw error;
    return undefined;
  } finally {
    if (parent !== undefined) closeSync(parent);
  }
}

function depth(path: string): number {
  return path === '' ? 0 : path.split('/').length;
}
