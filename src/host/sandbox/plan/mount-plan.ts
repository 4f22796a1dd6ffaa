import { ExecError, isExecError } from '../../../protocol/errors.js';
import { aliasRules } from './aliases.js';
import type { Disk, ResolvedPath } from './disk.js';
import {
  type Access,
  accessAt,
  type FilePolicy,
  indexRules,
  isWithin,
  parentOf,
  type PathRule,
} from '../../../policy/internal.js';

/** One change to the view at `path`. Applied in order; later ones cover earlier ones. */
export type Mount =
  | { readonly kind: 'readOnly' | 'writable'; readonly path: string }
  /** An empty directory that cannot be listed. `traversable`: something below it is visible. */
  | { readonly kind: 'hiddenDirectory'; readonly path: string; readonly traversable: boolean }
  | { readonly kind: 'hiddenFile'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

/** The file view of one process. */
export interface MountPlan {
  /** The root of the view before the mounts: the machine's own, or empty. */
  readonly base: 'unrestricted' | 'writable' | 'readOnly' | 'empty';
  /** Outer paths before inner ones. */
  readonly mounts: readonly Mount[];
  /** Directories to make before the start, as mount points for names that must stay unused. */
  readonly placeholders: readonly string[];
  /** The access granted to a path without symbolic links. */
  readonly accessAt: (path: string) => Access;
}

/** Turns rules into mounts. Reads the disk but changes nothing. */
export function planMounts(files: FilePolicy, disk: Disk): MountPlan {
  const own = disk.ownPlaces().flatMap((path) => found(path, disk));
  if (files.kind === 'unrestricted') return planOwnPlaces(own);
  const placed: PlacedRule[] = [
    ...files.rules.map((rule) => ({ rule, place: disk.resolve(rule.path), named: true })),
    ...disk.hidden(files.hidden).flatMap((path) => found(path, disk)),
    ...own,
  ].filter(({ rule, place }) => isRuledBy(place.path, rule.access) && !grantsMissingPath(rule, place));
  const claimed = indexPlaces(placed);
  const pointed = placed.flatMap((rule) => behindPointer(rule, { disk, rules: claimed }));
  const stable = [...placed, ...pointed].filter((rule) => isStable(rule, claimed));
  const named = indexPlaces(stable);
  const rules = indexRules([...named.values(), ...aliasRules(named, disk.mounts())]);
  const planner = new Planner(rules, disk);
  for (const rule of rules.values()) planner.add(rule);
  for (const { rule, place } of stable) planner.addLinks(rule, place);
  return planner.finish();
}

/** Without a file policy there are still the paths that lead out of every sandbox. */
function planOwnPlaces(own: readonly PlacedRule[]): MountPlan {
  const mounts = own.flatMap(({ place: { kind, path } }): Mount[] => {
    if (kind === 'file') return [{ kind: 'hiddenFile', path }];
    return kind === 'directory' ? [{ kind: 'hiddenDirectory', path, traversable: false }] : [];
  });
  return {
    base: 'unrestricted',
    mounts,
    placeholders: [],
    accessAt: (path) => (mounts.some((mount) => isWithin(path, mount.path)) ? 'none' : 'write'),
  };
}

interface PlacedRule {
  readonly rule: PathRule;
  readonly place: ResolvedPath;
  /** Given by path, not matched by a pattern. */
  readonly named: boolean;
}

/** A loop of links leads nowhere, so there is nothing to hide: anyone can leave one in a workspace. */
function found(path: string, disk: Disk): PlacedRule[] {
  try {
    const rule = { path, access: 'none', whenMissing: 'skip' } as const;
    return [{ rule, place: disk.resolve(path), named: false }];
  } catch (error) {
    if (isExecError(error, 'invalidParams')) return [];
    throw error;
  }
}

/** What a protected `.git` file points to is protected if it would be writable; elsewhere a pointer changes nothing. */
function behindPointer(
  { rule, place }: PlacedRule,
  { disk, rules }: { disk: Disk; rules: ReadonlyMap<string, PathRule> },
): PlacedRule[] {
  if (rule.access !== 'read' || place.kind !== 'file' || !place.path.endsWith('/.git')) return [];
  return disk
    .gitDirectories(place.path)
    .map((path): PlacedRule => ({ rule: { ...rule, path }, place: disk.resolve(path), named: true }))
    .filter(({ place: { path, kind } }) => kind === 'directory' && accessAt(rules, path) === 'write');
}

function indexPlaces(placed: readonly PlacedRule[]): ReadonlyMap<string, PathRule> {
  return indexRules(placed.map(({ rule, place }) => ({ ...rule, path: place.path })));
}

/** The sandbox has its own /proc and /dev, and /sys is never writable, since it bypasses every file policy. */
function isRuledBy(path: string, access: Access): boolean {
  if (path === '/dev' || isWithin(path, '/proc')) return false;
  return access === 'none' || !isWithin(path, '/sys');
}

/** A missing path cannot be mounted; nothing is created for it, nor for what would be protected inside. */
function grantsMissingPath({ access }: PathRule, { kind }: ResolvedPath): boolean {
  return access === 'write' && kind === 'missing';
}

/**
 * A link in a writable directory may come from an earlier confined process, or this one may replace it. A grant through
 * it could reach anything, so it is void; a protection through it cannot hold, so the start fails. A rule that only
 * hides keeps hiding what the link points to now.
 */
function isStable({ rule, place, named }: PlacedRule, rules: ReadonlyMap<string, PathRule>): boolean {
  const swappableLink = place.links.find((link) => accessAt(rules, parentOf(link.path)) === 'write');
  if (swappableLink === undefined || !named) return true;
  if (rule.access === 'write' || rule.whenLink === 'skip') return false;
  throw new ExecError('sandboxUnavailable', `The protected path ${rule.path} is or passes a symbolic link.`, {
    data: {
      reason: 'protectedLink',
      hint: `Replace the link ${swappableLink.path} with what it points to, or do not protect it.`,
    },
  });
}

class Planner {
  readonly #rules: ReadonlyMap<string, PathRule>;
  readonly #disk: Disk;
  readonly #mounts = new Map<string, Mount>();
  readonly #placeholders: string[] = [];

  constructor(rules: ReadonlyMap<string, PathRule>, disk: Disk) {
    this.#rules = rules;
    this.#disk = disk;
  }

  add(rule: PathRule): void {
    const around = this.#accessAt(parentOf(rule.path));
    if (rule.path === '/' || rule.access === around) return;
    const { kind } = this.#disk.resolve(rule.path);
    if (kind !== 'missing') {
      // Its maker will eventually remove it, and our mount with it, unless we hold it too.
      if (rule.access === 'read' && this.#disk.isPlaceholder(rule.path)) this.#placeholders.push(rule.path);
      this.#cover(this.#mountFor(rule, kind), rule.access);
    } else if (rule.access !== 'write' && rule.whenMissing === 'block' && around === 'write')
      this.#block(rule.path);
  }

  /** In an empty root, links that lead to visible places must exist too, such as /bin. */
  addLinks(rule: PathRule, place: ResolvedPath): void {
    if (rule.access === 'none' || place.kind === 'missing') return;
    for (const { path, target } of place.links)
      if (this.#accessAt(path) === 'none') this.#mounts.set(path, { kind: 'link', path, target });
  }

  finish(): MountPlan {
    const depth = (path: string) => path.split('/').length;
    const mounts = [...this.#mounts.values()].sort(
      (a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1),
    );
    const base = ({ write: 'writable', read: 'readOnly', none: 'empty' } as const)[this.#accessAt('/')];
    return {
      base,
      mounts,
      placeholders: this.#placeholders,
      accessAt: (path) => accessAt(this.#rules, path),
    };
  }

  /**
   * The first missing component of the path is created and covered, so that nothing can be put there. A placeholder of
   * another sandbox counts as missing.
   */
  #block(missing: string): void {
    let path = missing;
    while (this.#isFree(parentOf(path))) path = parentOf(path);
    if (this.#mounts.has(path)) return;
    // Nothing can be put below a file that cannot be replaced.
    if (this.#disk.resolve(parentOf(path)).kind === 'file') return this.#pinParents(path);
    this.#placeholders.push(path);
    this.#cover({ kind: 'readOnly', path }, 'read');
  }

  #isFree(path: string): boolean {
    return this.#disk.resolve(path).kind === 'missing' || this.#disk.isPlaceholder(path);
  }

  #cover(mount: Mount, access: Access): void {
    this.#mounts.set(mount.path, mount);
    if (access !== 'write') this.#pinParents(mount.path);
  }

  /** A mount point cannot be renamed, so the parent of a protected path cannot be swapped for another directory. */
  #pinParents(path: string): void {
    for (let at = parentOf(path); at !== '/'; at = parentOf(at)) {
      const swappable = this.#accessAt(parentOf(at)) === 'write' && this.#accessAt(at) === 'write';
      if (swappable && !this.#mounts.has(at)) this.#mounts.set(at, { kind: 'writable', path: at });
    }
  }

  #mountFor({ path, access }: PathRule, kind: 'directory' | 'file'): Mount {
    if (access === 'read') return { kind: 'readOnly', path };
    if (access === 'write') return { kind: 'writable', path };
    if (kind === 'file') return { kind: 'hiddenFile', path };
    const traversable = [...this.#rules.values()].some(
      (other) => other.access !== 'none' && isWithin(other.path, path),
    );
    return { kind: 'hiddenDirectory', path, traversable };
  }

  #accessAt(path: string): Access {
    return accessAt(this.#rules, path);
  }
}
