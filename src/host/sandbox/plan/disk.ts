import { lstatSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import { ExecError } from '../../../protocol/errors.js';
import { gitDirectoriesOf } from './git-directory.js';
import { findHiddenNow } from './hidden-search.js';
import { type MountedPlace, mountTable, parseMountTable } from './mount-table.js';
import { ownPlaces } from './own-places.js';
import { type FileView, hostView } from './file-view.js';
import { nameable } from './nameable-path.js';
import { isPlaceholder } from './placeholder.js';
import { type HiddenPattern, parentOf } from '../../../policy/internal.js';

/** What is at a path. Sockets, pipes and devices count as files: they are covered in the same way. */
export type PlaceKind = 'directory' | 'file' | 'missing';

/** A path with its symbolic links resolved as far as it exists. */
export interface ResolvedPath {
  readonly path: string;
  readonly kind: PlaceKind;
  /** Every link on the way, by its real path. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/** What a mount plan needs to know about the disk; tests answer from a table. */
export interface Disk {
  resolve(path: string): ResolvedPath;
  /** True for a directory another sandbox made to block the name; see `placeholder.ts`. */
  isPlaceholder(path: string): boolean;
  /** The real git directories behind a `.git` file; see `git-directory.ts`. */
  gitDirectories(pointer: string): readonly string[];
  /** All mounts, in order; later ones cover earlier ones. */
  mounts(): readonly MountedPlace[];
  /** Paths that lead to this server, and so out of every sandbox; see `own-places.ts`. */
  ownPlaces(): readonly string[];
  /** What the patterns match right now, without following links. */
  hidden(patterns: readonly HiddenPattern[]): readonly string[];
  /** A path by which we can open what is at a path without links. Absent: the path itself. */
  readonly reach?: (path: string) => string;
}

/** The kernel's limit: more links in one path count as a loop. */
const MAX_LINKS = 40;

/** The questions a disk was asked and its answers. The same answers lead to the same plan. */
export interface Observations {
  readonly own: string;
  readonly mountTable: string;
  readonly places: ReadonlyMap<string, Found>;
  readonly placeholders: ReadonlyMap<string, boolean>;
  readonly pointers: ReadonlyMap<string, readonly string[]>;
}

/** A disk that records its answers. */
export interface RecordingDisk extends Disk {
  /** All answers so far, except the matches of patterns. */
  answers(): Observations;
  /** Asks the same questions again. */
  stillMatches(answers: Observations): boolean;
}

/**
 * This machine's disk as it is now, or as a view of it shows it, with every path looked at once. For one plan only: the
 * disk keeps changing. `hidden`: what the patterns match, if they have been searched for already.
 */
export function snapshotDisk(view: FileView = hostView, hidden?: readonly string[]): RecordingDisk {
  const places = new Map<string, Found>();
  const placeholders = new Map<string, boolean>();
  const pointers = new Map<string, readonly string[]>();
  const lookAt = (path: string): Found => once(places, path, () => look(view.reach(path)));
  const pointsTo = (path: string): readonly string[] =>
    once(pointers, path, () => gitDirectoriesOf(path, view));
  const isHeld = (path: string): boolean => once(placeholders, path, () => isPlaceholder(path, view));
  let table: string | undefined;
  const tableOfNow = (): string => {
    table ??= mountTable();
    return table;
  };
  return {
    resolve: (path) => resolvePath(path, lookAt),
    isPlaceholder: isHeld,
    gitDirectories: pointsTo,
    ownPlaces,
    mounts: () => parseMountTable(tableOfNow()),
    hidden: (patterns) => hidden ?? findHiddenNow(patterns, view),
    reach: (path) => view.reach(path),
    answers: () => ({
      mountTable: tableOfNow(),
      own: ownPlaces().join('\n'),
      places: new Map(places),
      placeholders: new Map(placeholders),
      pointers: new Map(pointers),
    }),
    stillMatches: (before) =>
      before.own === ownPlaces().join('\n') &&
      before.mountTable === tableOfNow() &&
      every(before.places, (path, found) => isSame(lookAt(path), found)) &&
      every(before.placeholders, (path, held) => isHeld(path) === held) &&
      every(before.pointers, (path, targets) => targets.join('\n') === pointsTo(path).join('\n')),
  };
}

function once<T>(known: Map<string, T>, path: string, ask: (path: string) => T): T {
  const found = known.get(path) ?? ask(path);
  known.set(path, found);
  return found;
}

function every<T>(map: ReadonlyMap<string, T>, holds: (path: string, value: T) => boolean): boolean {
  for (const [path, value] of map) if (!holds(path, value)) return false;
  return true;
}

/** What is at one path: a place, or a link and its target. */
export type Found = PlaceKind | { readonly target: string };

function isSame(a: Found, b: Found): boolean {
  return typeof a === 'object' && typeof b === 'object' ? a.target === b.target : a === b;
}

function resolvePath(path: string, lookAt: (path: string) => Found): ResolvedPath {
  const links: { path: string; target: string }[] = [];
  const pending = path.split('/').filter(Boolean).toReversed();
  let at = '/';
  let kind: PlaceKind = 'directory';
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '.') continue;
    if (name === '..') {
      at = parentOf(at);
      continue;
    }
    const next = at === '/' ? `/${name}` : `${at}/${name}`;
    const found = lookAt(next);
    if (typeof found === 'object') {
      const { target } = found;
      if (links.push({ path: next, target }) > MAX_LINKS)
        throw new ExecError('invalidParams', 'A path of the sandbox contains a loop of links.');
      if (target.startsWith('/')) at = '/';
      pending.push(...target.split('/').filter(Boolean).toReversed());
      kind = 'directory';
      continue;
    }
    at = next;
    kind = found;
    if (found === 'missing') return { path: posix.join(at, ...pending.toReversed()), kind, links };
  }
  return { path: at, kind, links };
}

function look(path: string): Found {
  const found = unlessRefused(() => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return 'missing';
  if (!found.isSymbolicLink()) return found.isDirectory() ? 'directory' : 'file';
  const target = unlessRefused(() => readlinkSync(path, 'buffer'));
  return target === undefined ? 'missing' : { target: nameable(target) };
}

/** If we may not even look at it, neither may the confined process. */
function unlessRefused<T>(ask: () => T | undefined): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
