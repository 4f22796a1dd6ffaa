import { lstat, stat } from 'node:fs/promises';
import { entriesOf } from '../access/directories.js';
import { type DirectoryEvent, watchDirectory } from './directory-events.js';
import { type Identity, identityOf } from '../access/file-identity.js';
import { childOf, isWithin } from '../../kernel/index.js';
import { MAX_WATCHED_DIRECTORIES } from '../access/limits.js';
import { hasOsCode, osError } from '../access/os-error.js';

interface Watched {
  readonly path: Buffer;
  readonly identity: Identity;
  close(): void;
}

export interface WatchedDirectoriesHandlers {
  onEvent(directory: Buffer, event: DirectoryEvent): void;
  /** An entry that already existed when its directory came under watch. */
  onFound(path: Buffer): void;
  /** A directory could not be watched; changes in it will be missed. */
  onUnwatchable(): void;
}

/** The directories under watch: one kernel watch each, kept in sync with the tree. */
export class WatchedDirectories {
  readonly #handlers: WatchedDirectoriesHandlers;
  readonly #recursive: boolean;
  readonly #watched = new Map<string, Watched>();
  /** Counts calls of `close`: work in progress at that moment must not add watches nobody would close. */
  #round = 0;

  constructor(recursive: boolean, handlers: WatchedDirectoriesHandlers) {
    this.#recursive = recursive;
    this.#handlers = handlers;
  }

  /** Starts with what is at `top`, following links; only a directory needs a watch of its own. */
  async start(top: Buffer): Promise<void> {
    this.close();
    const stats = await statOrNull(top, true);
    if (stats === null || !stats.isDirectory()) return;
    this.#watch(top, identityOf(stats));
    if (this.#recursive) await this.#watchBelow(top, { report: false });
  }

  /** Updates the watches at and below `path`. New directories report what they contain. */
  async refresh(path: Buffer, options: { isTop: boolean }): Promise<void> {
    if (!this.#recursive && !options.isTop) return;
    const stats = await statOrNull(path, options.isTop);
    const identity = stats?.isDirectory() === true ? identityOf(stats) : null;
    const known = this.#watched.get(keyOf(path));
    if (known?.identity === identity || (known === undefined && identity === null)) return;
    this.drop(path);
    if (identity === null) return;
    try {
      this.#watchOneMore(path, identity);
    } catch (error) {
      this.#skip(error);
      return;
    }
    await this.#watchBelow(path, { report: true });
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
    this.#round += 1;
    for (const watched of this.#watched.values()) watched.close();
    this.#watched.clear();
  }

  /**
   * Watch first, list second: what happens in between is seen twice rather than never. Only one directory is open at a
   * time, however deep the tree is.
   */
  async #watchBelow(top: Buffer, options: { report: boolean }): Promise<void> {
    const round = this.#round;
    const waiting = [top];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      try {
        for await (const entry of entriesOf(next)) {
          if (this.#round !== round) return;
          const child = childOf(next, entry.name);
          if (options.report) this.#handlers.onFound(child);
          if (this.#recursive && entry.isDirectory() && (await this.#adopt(child))) waiting.push(child);
        }
      } catch (error) {
        this.#skip(error);
      }
    }
  }

  /** False if it is not a directory, or cannot be watched. */
  async #adopt(path: Buffer): Promise<boolean> {
    const round = this.#round;
    try {
      const stats = await lstat(path, { bigint: true });
      if (!stats.isDirectory() || this.#round !== round) return false;
      this.#watchOneMore(path, identityOf(stats));
      return true;
    } catch (error) {
      return this.#skip(error);
    }
  }

  #watchOneMore(path: Buffer, identity: Identity): void {
    if (this.#watched.size >= MAX_WATCHED_DIRECTORIES) throw osError('ENOSPC');
    this.#watch(path, identity);
  }

  /** A directory that is gone is not missed. */
  #skip(error: unknown): false {
    if (!hasOsCode(error, 'ENOENT', 'ENOTDIR')) this.#handlers.onUnwatchable();
    return false;
  }

  #watch(path: Buffer, identity: Identity): void {
    this.#watched.get(keyOf(path))?.close();
    const watcher = watchDirectory(path, {
      name: null,
      onEvent: (event) => this.#handlers.onEvent(path, event),
      onError: () => this.#handlers.onUnwatchable(),
    });
    this.#watched.set(keyOf(path), { path, identity, close: () => watcher.close() });
  }
}

async function statOrNull(path: Buffer, follow: boolean) {
  return (follow ? stat : lstat)(path, { bigint: true }).catch(() => null);
}

function keyOf(path: Buffer): string {
  return path.toString('latin1');
}
