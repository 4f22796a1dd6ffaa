import { lstat, stat } from 'node:fs/promises';
import { entriesOf } from '../access/directories.js';
import { type DirectoryEvent, watchDirectory } from './directory-events.js';
import { childOf, isWithin } from '../../kernel/host-path.js';
import { MAX_WATCHED_DIRECTORIES } from '../access/limits.js';
import { hasOsCode } from '../access/os-error.js';

interface Watched {
  readonly path: Buffer;
  readonly identity: string;
  close(): void;
}

export interface WatchedDirectoriesHandlers {
  onEvent(directory: Buffer, event: DirectoryEvent): void;
  /** An entry that was there already when its directory came under watch. */
  onFound(path: Buffer): void;
  /** A directory could not be watched; changes in it will be missed. */
  onBlind(): void;
}

/** The directories under watch: one kernel watch each, kept in step with the tree. */
export class WatchedDirectories {
  readonly #handlers: WatchedDirectoriesHandlers;
  readonly #recursive: boolean;
  readonly #watched = new Map<string, Watched>();

  constructor(recursive: boolean, handlers: WatchedDirectoriesHandlers) {
    this.#recursive = recursive;
    this.#handlers = handlers;
  }

  /** Starts with what is at `top`, wherever links lead; nothing but a directory needs a watch of its own. */
  async start(top: Buffer): Promise<void> {
    this.close();
    const stats = await statOrNull(top, true);
    if (stats === null || !stats.isDirectory()) return;
    this.#watch(top, identityOf(stats));
    if (this.#recursive) await this.#watchBelow(top, { report: false });
  }

  /** Makes the watches at and below `path` fit what is there now. New directories report what they hold. */
  async refresh(path: Buffer, options: { isTop: boolean }): Promise<void> {
    if (!this.#recursive && !options.isTop) return;
    const stats = await statOrNull(path, options.isTop);
    const identity = stats?.isDirectory() === true ? identityOf(stats) : null;
    const known = this.#watched.get(keyOf(path));
    if (known?.identity === identity || (known === undefined && identity === null)) return;
    this.drop(path);
    if (identity !== null) await this.#adopt(path, identity, { report: true });
  }

  /** Stops watching `path` and everything below it. */
  drop(path: Buffer): void {
    for (const [key, watched] of this.#watched) {
      if (!isWithin(watched.path, path)) continue;
      watched.close();
      this.#watched.delete(key);
    }
  }

  close(): void {
    for (const watched of this.#watched.values()) watched.close();
    this.#watched.clear();
  }

  async #adopt(path: Buffer, identity: string, options: { report: boolean }): Promise<void> {
    if (this.#watched.size >= MAX_WATCHED_DIRECTORIES) return this.#handlers.onBlind();
    try {
      this.#watch(path, identity);
    } catch (error) {
      if (!hasOsCode(error, 'ENOENT', 'ENOTDIR')) this.#handlers.onBlind();
      return;
    }
    await this.#watchBelow(path, options);
  }

  /** Watch first, list second: whatever comes between the two is seen twice rather than never. */
  async #watchBelow(path: Buffer, options: { report: boolean }): Promise<void> {
    try {
      for await (const entry of entriesOf(path)) {
        const child = childOf(path, entry.name);
        if (options.report) this.#handlers.onFound(child);
        if (this.#recursive && entry.isDirectory()) await this.#watchChild(child, options);
      }
    } catch (error) {
      if (!hasOsCode(error, 'ENOENT', 'ENOTDIR')) this.#handlers.onBlind();
    }
  }

  async #watchChild(path: Buffer, options: { report: boolean }): Promise<void> {
    const stats = await statOrNull(path, false);
    if (stats?.isDirectory() === true) await this.#adopt(path, identityOf(stats), options);
  }

  #watch(path: Buffer, identity: string): void {
    this.#watched.get(keyOf(path))?.close();
    const watcher = watchDirectory(path, {
      onEvent: (event) => this.#handlers.onEvent(path, event),
      onError: () => this.#handlers.onBlind(),
    });
    this.#watched.set(keyOf(path), { path, identity, close: () => watcher.close() });
  }
}

/** Names one directory for its life: inode numbers alone are reused at once. */
function identityOf(stats: { dev: bigint; ino: bigint; birthtimeNs: bigint }): string {
  return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

async function statOrNull(path: Buffer, follow: boolean) {
  return (follow ? stat : lstat)(path, { bigint: true }).catch(() => null);
}

function keyOf(path: Buffer): string {
  return path.toString('latin1');
}
