import { closeSync } from 'node:fs';
import { openBeneath } from '../kernel/index.js';
import { type HeldView, openExactly } from '../sandbox/index.js';
import { extendCommand, makeCommand, type MountTools, type Rights } from './mount-script.js';
import { Mounting, type ToMount } from './mounting.js';

interface MountedRoot extends ToMount {
  /** An open descriptor of the merged directory. */
  readonly view: number;
}

let lastNumber = 0;

/**
 * The mounted directories of one set. They exist in namespaces that we hold open and that no process is in: when we are
 * gone, so are they. All programs of a set share these mounts: an overlay must not be mounted twice.
 */
export class HeldMounts {
  readonly #id: string;
  readonly #tools: MountTools;
  readonly #rights: Rights;
  /** Inner directories first. */
  readonly #roots: MountedRoot[] = [];
  #mount: number | null = null;
  /** Where programs are themselves, and where we are root. Null for root. */
  #user: number | null = null;
  #owner: number | null = null;

  constructor(setId: string, { tools, rights }: { tools: MountTools; rights: Rights }) {
    this.#tools = tools;
    this.#rights = rights;
    // Whatever is kept for a view is kept for these very mounts.
    this.#id = `${setId} ${++lastNumber}`;
  }

  /** Identifies these mounts, as long as this process runs. */
  get id(): string {
    return this.#id;
  }

  /** Mounts what is not mounted yet; outer directories come first. If that fails, everything stays as it was. */
  async add(wanted: readonly ToMount[]): Promise<void> {
    const missing = wanted.filter(({ path }) => !this.#roots.some((root) => root.path === path));
    if (missing.length === 0) return;
    const mounting = new Mounting(this.#command(missing.flatMap(({ path, place }) => [path, place])));
    try {
      await mounting.run(missing, () => {
        if (this.#rights && this.#owner === null) this.#owner = mounting.namespace('user');
      });
      if (this.#mount === null) this.#hold(mounting);
      for (const each of missing)
        this.#roots.push({ ...each, view: mounting.directory(`${each.place}/view`) });
      this.#roots.sort((a, b) => b.path.length - a.path.length);
    } finally {
      await mounting.end();
    }
  }

  /** The files as programs of the set see them. */
  view(mountPoints: readonly string[]): HeldView {
    const reachBytes = (path: Buffer): Buffer => this.#reach(path);
    return {
      id: this.#id,
      enter: this.#entrance(),
      mountPoints,
      reachBytes,
      reach: (path) => reachBytes(Buffer.from(path)).toString(),
      open: (path) => this.#open(path),
      sourceOf: (path) => this.#sourceOf(path, mountPoints),
    };
  }

  /** Unmounts everything, unless a program still uses it: then it is gone when the program is. Idempotent. */
  close(): void {
    for (const { view } of this.#roots.splice(0)) closeSync(view);
    for (const fd of [this.#mount, this.#user, this.#owner]) if (fd !== null) closeSync(fd);
    this.#mount = null;
    this.#user = null;
    this.#owner = null;
  }

  #command(pairs: readonly string[]): string[] {
    if (this.#mount === null) return makeCommand(this.#tools, this.#rights, pairs);
    const owner = this.#owner === null ? null : ownFd(this.#owner);
    return extendCommand(this.#tools, { mount: ownFd(this.#mount), owner }, pairs);
  }

  #hold(mounting: Mounting): void {
    if (this.#rights) this.#user = mounting.namespace('user');
    this.#mount = mounting.namespace('mnt');
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
    // Byte by byte: a name need not be text.
    const bytes = path.toString('latin1');
    const root = this.#roots.find((each) => isBelow(bytes, latin1(each.path)));
    if (root === undefined) return path;
    return Buffer.from(`${ownFd(root.view, 'self')}/.${bytes.slice(latin1(root.path).length)}`, 'latin1');
  }

  #open(path: string): number {
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
