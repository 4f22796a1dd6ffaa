import { closeSync } from 'node:fs';
import { forgetNames, openBeneath } from '../kernel/index.js';
import { type HeldView, openExactly } from '../sandbox/index.js';
import { HeldUses } from './held-uses.js';
import {
  extendCommand,
  forgetCommand,
  makeCommand,
  type MountNamespaces,
  type MountTools,
  type Rights,
} from './mount-script.js';
import { Mounting, succeeds, type ToMount } from './mounting.js';
import { nodeAt } from './node.js';
import { inodeOf } from './scan.js';

interface MountedRoot extends ToMount {
  /** An open descriptor of the merged directory. */
  readonly view: number;
  /** What identifies the directory below. Unknown if an earlier server has mounted it. */
  readonly base?: string | undefined;
}

/** What it takes to mount something. */
export interface MountMeans {
  readonly tools: MountTools;
  readonly rights: Rights;
}

/** How the descriptors of merged directories are called, before their number. */
const VIEW = 'view ';

let lastNumber = 0;

/**
 * The mounted directories of one set. They exist in namespaces that we hold open and that no process is in: when we are
 * gone, so are they. All programs of a set share these mounts: an overlay must not be mounted twice.
 */
export class HeldMounts {
  readonly #id: string;
  /** Inner directories first. */
  readonly #roots: MountedRoot[] = [];
  /** What uses them beside programs. */
  readonly #uses = new HeldUses();
  #isEnding = false;
  /** Whether somebody may have looked up names since they were last forgotten. */
  #isKnown = false;
  #mount: number | null = null;
  /** Where programs are themselves, and where we are root. Null for root. */
  #user: number | null = null;
  #owner: number | null = null;

  constructor(setId: string) {
    // Whatever is kept for a view is kept for these very mounts.
    this.#id = `${setId} ${++lastNumber}`;
  }

  /** Continues with the mounts that an earlier server has made at these places. Owns the descriptors. */
  static adopt(
    setId: string,
    descriptors: Readonly<Record<string, number>>,
    places: readonly ToMount[],
  ): HeldMounts {
    const mounts = new HeldMounts(setId);
    const { mount, user = null, owner = null } = descriptors;
    if (mount === undefined) throw new Error('the namespace of its files is missing');
    [mounts.#mount, mounts.#user, mounts.#owner] = [mount, user, owner];
    mounts.#isKnown = true;
    for (const [index, place] of places.entries()) {
      const view = descriptors[`${VIEW}${index}`];
      if (view !== undefined) mounts.#roots.push({ ...place, view });
    }
    mounts.#sort();
    return mounts;
  }

  /** What another server needs to continue with them, where `places` are all that there may be. They stay ours. */
  descriptors(places: readonly ToMount[]): Record<string, number> {
    const named = { mount: this.#mount, user: this.#user, owner: this.#owner };
    const views = this.#roots.map(
      ({ path, view }) => [`${VIEW}${places.findIndex((place) => place.path === path)}`, view] as const,
    );
    return Object.fromEntries([...Object.entries(named), ...views].filter(isOpen));
  }

  /** Identifies these mounts, as long as this process runs. */
  get id(): string {
    return this.#id;
  }

  /**
   * Mounts what is not mounted yet; outer directories come first. If that fails, everything stays as it was. Resolves to
   * whether there is something new.
   */
  async add(wanted: readonly ToMount[], { tools, rights }: MountMeans): Promise<boolean> {
    const missing = wanted.filter(({ path }) => !this.#roots.some((root) => root.path === path));
    if (missing.length === 0) return false;
    const pairs = missing.flatMap(({ path, place }) => [path, place]);
    const mounting = new Mounting(this.#command(pairs, { tools, rights }));
    try {
      const bases = await mounting.run(missing, () => {
        if (rights && this.#owner === null) this.#owner = mounting.namespace('user');
      });
      if (this.#mount === null) {
        if (rights) this.#user = mounting.namespace('user');
        this.#mount = mounting.namespace('mnt');
      }
      for (const [index, each] of missing.entries())
        this.#roots.push({ ...each, base: bases[index], view: mounting.directory(`${each.place}/view`) });
      this.#sort();
      return true;
    } finally {
      await mounting.end();
    }
  }

  /** A directory that somebody has put in the place of one that is mounted. */
  replaced(): string | undefined {
    return this.#roots.find(({ path, base }) => {
      const found = base === undefined ? undefined : nodeAt(Buffer.from(path));
      return found !== undefined && inodeOf(found) !== base;
    })?.path;
  }

  /** Lets the kernel look up all names anew, except for what programs use. Resolves to false if that is not possible. */
  async forgetNames({ tools, rights }: MountMeans): Promise<boolean> {
    if (this.#mount === null) return false;
    await this.#uses.endOutdated();
    if (rights === null) {
      const done = await Promise.all(this.#roots.map(({ view }) => forgetNames(view)));
      if (done.every(Boolean)) return true;
    }
    // It takes a process, and nobody has looked since.
    if (!this.#isKnown) return true;
    this.#isKnown = false;
    const places = this.#roots.map(({ place }) => place);
    const isDone = await succeeds(forgetCommand(tools, this.#namespaces(this.#mount), places));
    this.#isKnown ||= !isDone;
    return isDone;
  }

  /** The files as programs of the set see them. */
  view(mountPoints: readonly string[]): HeldView {
    this.#isKnown = true;
    const reachBytes = (path: Buffer): Buffer => this.#reach(path);
    const isThere = (): boolean => !this.#isEnding && this.#mount !== null;
    return {
      id: this.#id,
      enter: this.#entrance(),
      mountPoints,
      reachBytes,
      reach: (path) => reachBytes(Buffer.from(path)).toString(),
      open: (path) => this.#open(path),
      sourceOf: (path) => this.#sourceOf(path, mountPoints),
      get isThere() {
        return isThere();
      },
      onEnd: (end, places) => this.#uses.add(end, places),
    };
  }

  /** Ends whatever uses them beside programs. Call `close` next. */
  async endUses(): Promise<void> {
    this.#isEnding = true;
    await this.#uses.end();
  }

  /** Unmounts everything, unless a program still uses it: then it is gone when the program is. Idempotent. */
  close(): void {
    for (const { view } of this.#roots.splice(0)) closeSync(view);
    for (const fd of [this.#mount, this.#user, this.#owner]) if (fd !== null) closeSync(fd);
    this.#mount = null;
    this.#user = null;
    this.#owner = null;
  }

  #command(pairs: readonly string[], { tools, rights }: MountMeans): string[] {
    if (this.#mount === null) return makeCommand(tools, rights, pairs);
    return extendCommand(tools, this.#namespaces(this.#mount), pairs);
  }

  #namespaces(mount: number): MountNamespaces {
    return { mount: ownFd(mount), owner: this.#owner === null ? null : ownFd(this.#owner) };
  }

  #sort(): void {
    this.#roots.sort((a, b) => b.path.length - a.path.length);
  }

  #entrance(): string[] {
    if (this.#mount === null) throw new Error('nothing is mounted');
    const user = this.#user === null ? [] : ['--preserve-credentials', `--user=${ownFd(this.#user)}`];
    return [...user, `--mount=${ownFd(this.#mount)}`];
  }

  #rootOf(path: string): MountedRoot | undefined {
    return this.#roots.find((root) => isBelow(path, root.path));
  }

  #reach(path: Buffer): Buffer {
    this.#isKnown = true;
    // Byte by byte: a name need not be text.
    const bytes = path.toString('latin1');
    const root = this.#roots.find((each) => isBelow(bytes, latin1(each.path)));
    if (root === undefined) return path;
    return Buffer.from(`${ownFd(root.view, 'self')}/.${bytes.slice(latin1(root.path).length)}`, 'latin1');
  }

  #open(path: string): number {
    this.#isKnown = true;
    const root = this.#rootOf(path);
    if (root === undefined) return openExactly(path);
    return openBeneath(root.view, Buffer.from(path.slice(root.path.length + 1)));
  }

  /** A mount point that is not a root of ours shows what is mounted there. */
  #sourceOf(path: string, mountPoints: readonly string[]): string {
    const root = this.#rootOf(path);
    const covered = mountPoints.some(
      (point) => isBelow(path, point) && point.length > (root?.path.length ?? 0),
    );
    return root === undefined || covered ? path : `${root.place}/view${path.slice(root.path.length)}`;
  }
}

function isOpen(entry: readonly [string, number | null]): entry is [string, number] {
  return entry[1] !== null;
}

/** For other processes of ours. */
function ownFd(fd: number, process_: number | 'self' = process.pid): string {
  return `/proc/${process_}/fd/${fd}`;
}

function latin1(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(place === '/' ? '/' : `${place}/`);
}
