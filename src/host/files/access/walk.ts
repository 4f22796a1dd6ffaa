import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import type { WalkOptions, WalkResult } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { type ListedEntry, listDirectory } from './directory-listing.js';
import { shownPath } from '../../kernel/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { WALK_LIMITS, WALK_REPLY_BYTES } from './limits.js';
import { asExecError } from './os-error.js';
import { type Place, placeOf } from './place.js';

/** Directories listed in advance: enough to hide the round trip, few enough to keep in memory. */
const PREFETCHED_LISTINGS = 3;

/** Without any of these the bytes of a path are its text. */
const BEYOND_ASCII = /[\x80-\xff]/;

/** What an entry adds to the answer besides its path: quotes, braces and field names. */
const ENTRY_OVERHEAD_BYTES = 40;

export async function walk(root: Buffer, options: WalkOptions & FastPath): Promise<WalkResult> {
  const walker = new Walker(options);
  await walker.run(root);
  return walker.result();
}

/** A directory to list. Its path has one character per byte. */
interface Waiting {
  readonly path: string;
  /** Where it must really be; undefined if links are followed. */
  readonly place: Place | undefined;
  readonly depth: number;
  readonly fastPath: FastPath;
  listing: Promise<ListedEntry[]> | null;
}

class Walker {
  readonly #fastPath: FastPath;
  readonly #maxDepth: number;
  readonly #maxDirectories: number;
  readonly #maxEntries: number;
  readonly #follow: boolean;
  readonly #prune: boolean;
  readonly #entries: { path: string; kind: 'directory' | 'file' }[] = [];
  readonly #errors: { path: string; message: string }[] = [];
  /** Real paths of queued directories if links are followed: breaks cycles. */
  readonly #visited = new Set<string>();
  #queue: Waiting[] = [];
  #root = '';
  #rootPlace: Place | undefined;
  #directories = 0;
  #seen = 0;
  #replyBytes = 0;
  #truncated = false;
  #full = false;

  constructor(options: WalkOptions & FastPath) {
    this.#fastPath = options;
    this.#maxDepth = options.maxDepth ?? WALK_LIMITS.depth;
    this.#maxDirectories = options.maxDirectories ?? WALK_LIMITS.directories;
    this.#maxEntries = options.maxEntries ?? WALK_LIMITS.entries;
    this.#follow = options.followDirectorySymlinks === true;
    this.#prune = options.pruneHiddenDirectories === true;
    this.#checkLimits();
  }

  async run(root: Buffer): Promise<void> {
    const own = await lstat(root);
    const isDirectory = own.isSymbolicLink()
      ? this.#follow && (await stat(root)).isDirectory()
      : own.isDirectory();
    if (!isDirectory) return;
    this.#root = root.toString('latin1');
    if (!this.#follow) this.#rootPlace = await placeOf(root);
    await this.#enqueue(this.#root, 0);
    for (let next = this.#queue.shift(); next !== undefined && !this.#full; next = this.#queue.shift()) {
      for (const ahead of this.#queue.slice(0, PREFETCHED_LISTINGS)) void listOnce(ahead);
      await this.#list(next);
    }
  }

  result(): WalkResult {
    return { entries: this.#entries, errors: this.#errors, truncated: this.#truncated };
  }

  #checkLimits(): void {
    const { depth, directories, entries } = WALK_LIMITS;
    if (this.#maxDirectories < 1 || this.#maxEntries < 1)
      throw new ExecError('invalidLimit', 'filesystem walk limits must be greater than zero');
    if (this.#maxDepth > depth || this.#maxDirectories > directories || this.#maxEntries > entries)
      throw new ExecError(
        'invalidLimit',
        `filesystem walk limits exceed maximums: depth=${depth}, directories=${directories}, entries=${entries}`,
      );
  }

  async #list(directory: Waiting): Promise<void> {
    let children: ListedEntry[];
    try {
      children = await listOnce(directory);
    } catch (error) {
      this.#errors.push({ path: shown(directory.path), message: asExecError(error).message });
      return;
    }
    const prefix = directory.path === '/' ? '/' : `${directory.path}/`;
    for (const child of children) {
      if (this.#seen === this.#maxEntries) return this.#stop();
      this.#seen += 1;
      const path = prefix + child.name;
      // If the listing tells the kind, no further system call or turn of the event loop is needed.
      const isClear = child.kind === 'file' || child.kind === 'directory';
      const kind = isClear ? child.kind : await this.#lookAt(path, child);
      if (kind === 'file' || kind === 'directory') {
        const entering = this.#visit(path, { name: child.name, kind }, directory.depth);
        if (entering !== undefined) await entering;
      }
      if (this.#full) return;
    }
  }

  #visit(
    path: string,
    child: { name: string; kind: 'directory' | 'file' },
    depth: number,
  ): void | Promise<void> {
    const text = shown(path);
    this.#replyBytes += text.length + ENTRY_OVERHEAD_BYTES;
    if (this.#replyBytes > WALK_REPLY_BYTES) return this.#stop();
    this.#entries.push({ path: text, kind: child.kind });
    const enter =
      child.kind === 'directory' && depth < this.#maxDepth && !(this.#prune && child.name.startsWith('.'));
    return enter ? this.#enqueue(path, depth + 1) : undefined;
  }

  /** Null for what a walk leaves out: special files, and links not followed to a directory. */
  async #lookAt(path: string, child: ListedEntry): Promise<'directory' | 'file' | null> {
    if (child.kind === 'special') return null;
    const bytes = Buffer.from(path, 'latin1');
    const own = child.kind === 'unknown' ? await statOrNull(lstat(bytes)) : null;
    if (own?.isDirectory() === true) return 'directory';
    if (own?.isFile() === true) return 'file';
    if (!this.#follow || !(child.kind === 'link' || own?.isSymbolicLink() === true)) return null;
    return (await statOrNull(stat(bytes)))?.isDirectory() === true ? 'directory' : null;
  }

  async #enqueue(path: string, depth: number): Promise<void> {
    if (this.#follow && !(await this.#isFirstVisit(path))) return;
    if (this.#directories === this.#maxDirectories) {
      this.#truncated = true;
      return;
    }
    this.#directories += 1;
    this.#queue.push({ path, place: this.#placeOf(path), depth, fastPath: this.#fastPath, listing: null });
  }

  #placeOf(path: string): Place | undefined {
    if (this.#rootPlace === undefined || path === this.#root) return this.#rootPlace;
    const below = this.#root === '/' ? path : path.slice(this.#root.length);
    return this.#rootPlace === '/' ? below : this.#rootPlace + below;
  }

  async #isFirstVisit(path: string): Promise<boolean> {
    const bytes = Buffer.from(path, 'latin1');
    const real = await realpath(bytes, { encoding: 'buffer' }).catch(() => bytes);
    const key = real.toString('latin1');
    if (this.#visited.has(key)) return false;
    this.#visited.add(key);
    return true;
  }

  #stop(): void {
    this.#truncated = true;
    this.#full = true;
  }
}

/** In byte order. Beyond the listing limit it is undefined which entries come first. */
function listOnce(directory: Waiting): Promise<ListedEntry[]> {
  directory.listing ??= listDirectory(Buffer.from(directory.path, 'latin1'), WALK_LIMITS.entries + 1, {
    ...directory.fastPath,
    place: directory.place,
  }).then((children) => children.sort((a, b) => (a.name < b.name ? -1 : 1)));
  // The caller that needs the listing gets the error; an unused prefetched one must not raise it.
  directory.listing.catch(() => undefined);
  return directory.listing;
}

function shown(path: string): string {
  return BEYOND_ASCII.test(path) ? shownPath(Buffer.from(path, 'latin1')) : path;
}

function statOrNull(stats: Promise<Stats>): Promise<Stats | null> {
  return stats.catch(() => null);
}
