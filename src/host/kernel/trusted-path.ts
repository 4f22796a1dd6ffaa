import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { judgeProgram, programPlaces } from './program-search.js';

/** Programs the server runs by itself, or puts in front of those it confines. */
export type HelperName = 'bwrap' | 'rg' | 'unshare' | 'dash' | 'bash' | 'setsid' | 'prlimit';

const NAMES: readonly HelperName[] = ['bwrap', 'rg', 'unshare', 'dash', 'bash', 'setsid', 'prlimit'];

/** What the system itself consists of comes first, whatever a PATH says. */
const SYSTEM_DIRECTORIES: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/run/current-system/sw/bin',
];

/** Usual as well, but whoever administers the machine may have given it away. */
const LOCAL_DIRECTORY = '/usr/local/bin';

/** What a policy says of a path; see `MountPlan`. */
export type AccessAt = (path: string) => 'read' | 'write' | 'none';

/** One program that may be trusted, by where it really is. */
interface Candidate {
  readonly path: string;
  readonly ofSystem: boolean;
  /** It and the directories above it, as far as our own user could change them. */
  readonly changeable: readonly string[];
}

/** Where to look, and as whom. */
export interface SearchOptions {
  readonly path?: string | undefined;
  readonly uid?: number;
  readonly cwd?: string;
}

/**
 * Where the server's own helpers are. They are looked for once, before anything confined has run, and never again: what is
 * confined runs as our own user, and a PATH likes to begin with a directory of the project it may write to.
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
      (directory) => isAbsolute(directory) && !isOfProject(directory, cwd),
    );
    const among = (name: HelperName, directories: readonly string[], ofSystem: boolean): Candidate[] =>
      [...programPlaces({ name, cwd, path: directories.join(':') })].flatMap((place) =>
        examine(place, { uid, ofSystem }),
      );
    this.#candidates = new Map(
      NAMES.map((name) => [name, [...among(name, SYSTEM_DIRECTORIES, true), ...among(name, others, false)]]),
    );
  }

  /** By preference, absolute and without links. */
  findAll(name: HelperName): readonly string[] {
    return [...new Set(this.#candidates.get(name)?.map(({ path }) => path))];
  }

  /** Whether there was one, until a policy let confined programs write to it. */
  hasLost(name: HelperName): boolean {
    return this.#lost.has(name);
  }

  /**
   * Trusts nothing any more that a policy lets confined programs change, now and for good. One that lets programs of root
   * change the system's own directories protects nothing of the system, so that nothing would be won by it there; and one
   * client's wish must not cost all others their sandboxes.
   */
  distrust(accessAt: AccessAt): void {
    for (const [name, candidates] of this.#candidates)
      for (const candidate of [...candidates]) {
        const { path, ofSystem, changeable } = candidate;
        if (ofSystem || accessAt(path) !== 'write') continue;
        if (!changeable.some((place) => accessAt(place) === 'write')) continue;
        candidates.splice(candidates.indexOf(candidate), 1);
        this.#lost.add(name);
      }
  }
}

let own: TrustedPath | undefined;

/** That of this server. */
export function trustedPath(): TrustedPath {
  own ??= new TrustedPath();
  return own;
}

/** The helper of that name, null if there is none to be trusted (any more). */
export function trustedProgram(name: HelperName): string | null {
  return trustedPath().findAll(name)[0] ?? null;
}

/** Directories that package managers of projects put in front of a PATH, and those below where the server was started. */
function isOfProject(directory: string, cwd: string): boolean {
  const place = normalize(`${directory}/`);
  if (place.endsWith('/node_modules/.bin/') || existsSync(join(place, '..', 'pyvenv.cfg'))) return true;
  return cwd !== '/' && place.startsWith(`${cwd}/`);
}

function examine(program: string, { uid, ofSystem }: { uid: number; ofSystem: boolean }): Candidate[] {
  if (judgeProgram(program) !== 'runnable') return [];
  try {
    const path = realpathSync(program);
    const places = wayTo(path).map((place) => ({ place, found: lstatSync(place) }));
    if (!ofSystem && !places.every(({ found }) => isOwn(found, uid))) return [];
    const changeable = places.filter(({ found }) => isChangeable(found, uid)).map(({ place }) => place);
    return [{ path, ofSystem, changeable }];
  } catch {
    return [];
  }
}

/** The root, the directories below it, and the file itself. */
function wayTo(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...wayTo(parent), path];
}

interface Place {
  readonly uid: number;
  readonly mode: number;
}

const STICKY = 0o1000;
const BY_GROUP = 0o020;
const BY_OTHERS = 0o002;

/** Nobody but root and us can change it. In a sticky directory a group can add names, and change none. */
function isOwn({ uid: owner, mode }: Place, uid: number): boolean {
  const byGroup = (mode & BY_GROUP) !== 0 && (mode & STICKY) === 0;
  return (owner === 0 || owner === uid) && !byGroup && (mode & BY_OTHERS) === 0;
}

/** What belongs to us can be made writable. */
function isChangeable({ uid: owner, mode }: Place, uid: number): boolean {
  return owner === uid || (mode & (BY_GROUP | BY_OTHERS)) !== 0;
}
