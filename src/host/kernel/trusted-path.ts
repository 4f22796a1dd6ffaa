import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { judgeProgram, programPlaces } from './program-search.js';

/** Programs the server runs itself or wraps around sandboxed ones. */
export type HelperName =
  | 'bwrap'
  | 'rg'
  | 'unshare'
  | 'dash'
  | 'bash'
  | 'setsid'
  | 'prlimit'
  | 'nsenter'
  | 'mount';

const NAMES: readonly HelperName[] = [
  'bwrap',
  'rg',
  'unshare',
  'dash',
  'bash',
  'setsid',
  'prlimit',
  'nsenter',
  'mount',
];

/** System directories come first, whatever PATH says. */
const SYSTEM_DIRECTORIES: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/run/current-system/sw/bin',
];

/** A usual place as well, but an administrator may have handed it over to someone else. */
const LOCAL_DIRECTORY = '/usr/local/bin';

/** The access a policy grants to a path; see `MountPlan`. */
export type AccessAt = (path: string) => 'read' | 'write' | 'none';

/** A trusted program, with symbolic links resolved. */
interface Candidate {
  readonly path: string;
  readonly isSystem: boolean;
  /** The program and its parent directories, as far as our own user could change them. */
  readonly changeable: readonly string[];
}

/** Where to search, and for which user. */
export interface SearchOptions {
  readonly path?: string | undefined;
  readonly uid?: number;
  readonly cwd?: string;
}

/**
 * Locates the server's helper programs. The search happens once, before anything runs in a sandbox: sandboxed programs
 * run as our own user, and PATH often starts with a project directory they may write to.
 */
export class TrustedPath {
  readonly #candidates: ReadonlyMap<HelperName, Candidate[]>;
  readonly #lost = new Set<HelperName>();

  constructor({
    path = process.env.PATH,
    uid = process.geteuid?.() ?? 0,
    cwd = process.cwd(),
  }: SearchOptions = {}) {
    const others = [LOCAL_DIRECTORY, ...(path ?? '').split(':')].filter(
      (directory) => isAbsolute(directory) && !belongsToProject(directory, cwd),
    );
    const among = (name: HelperName, directories: readonly string[], isSystem: boolean): Candidate[] =>
      [...programPlaces({ name, cwd, path: directories.join(':') })].flatMap((place) =>
        examine(place, { uid, isSystem }),
      );
    this.#candidates = new Map(
      NAMES.map((name) => [name, [...among(name, SYSTEM_DIRECTORIES, true), ...among(name, others, false)]]),
    );
  }

  /** In order of preference, absolute and without symbolic links. */
  findAll(name: HelperName): readonly string[] {
    return [...new Set(this.#candidates.get(name)?.map(({ path }) => path))];
  }

  /** True if a helper was found but a policy has since made it writable. */
  hasLost(name: HelperName): boolean {
    return this.#lost.has(name);
  }

  /**
   * Stops trusting, for good, every helper that a policy lets sandboxed programs change. System directories are exempt:
   * a policy that lets root change those protects nothing there, and one client's request must not cost everyone else
   * their sandboxes.
   */
  distrust(accessAt: AccessAt): void {
    for (const [name, candidates] of this.#candidates)
      for (const candidate of [...candidates]) {
        const { path, isSystem, changeable } = candidate;
        if (isSystem || accessAt(path) !== 'write') continue;
        if (!changeable.some((place) => accessAt(place) === 'write')) continue;
        candidates.splice(candidates.indexOf(candidate), 1);
        this.#lost.add(name);
      }
  }
}

let own: TrustedPath | undefined;

/** The trusted path of this server. */
export function trustedPath(): TrustedPath {
  own ??= new TrustedPath();
  return own;
}

/** The helper of that name; null if none is trusted (any more). */
export function trustedProgram(name: HelperName): string | null {
  return trustedPath().findAll(name)[0] ?? null;
}

/** Directories that project package managers prepend to PATH, and anything below the server's working directory. */
function belongsToProject(directory: string, cwd: string): boolean {
  const place = normalize(`${directory}/`);
  if (place.endsWith('/node_modules/.bin/') || existsSync(join(place, '..', 'pyvenv.cfg'))) return true;
  return cwd !== '/' && place.startsWith(`${cwd}/`);
}

function examine(program: string, { uid, isSystem }: { uid: number; isSystem: boolean }): Candidate[] {
  if (judgeProgram(program) !== 'runnable') return [];
  try {
    const path = realpathSync(program);
    const places = pathChain(path).map((place) => ({ place, found: lstatSync(place) }));
    if (!isSystem && !places.every(({ found }) => isOwn(found, uid))) return [];
    const changeable = places.filter(({ found }) => isChangeable(found, uid)).map(({ place }) => place);
    return [{ path, isSystem, changeable }];
  } catch {
    return [];
  }
}

/** Every directory from the root down, then the file itself. */
function pathChain(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...pathChain(parent), path];
}

interface Place {
  readonly uid: number;
  readonly mode: number;
}

const STICKY = 0o1000;
const BY_GROUP = 0o020;
const BY_OTHERS = 0o002;

/** Only root and we can change it. In a sticky directory, group members can add names but not change existing ones. */
function isOwn({ uid: owner, mode }: Place, uid: number): boolean {
  const byGroup = (mode & BY_GROUP) !== 0 && (mode & STICKY) === 0;
  return (owner === 0 || owner === uid) && !byGroup && (mode & BY_OTHERS) === 0;
}

/** If we own it, we can make it writable. */
function isChangeable({ uid: owner, mode }: Place, uid: number): boolean {
  return owner === uid || (mode & (BY_GROUP | BY_OTHERS)) !== 0;
}
