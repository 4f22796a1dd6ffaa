import { lstat, realpath } from 'node:fs/promises';
import {
  ChangeQueue,
  type FileChanges,
  type FileWatch,
  MAX_PENDING_CHANGES,
  type WatchOptions,
} from '../../../contract/index.js';
import { requireWanted } from '../access/abort.js';
import type { DirectoryEvent } from './directory-events.js';
import { childOf, isRoot, nameOf, parentOf, shownPath } from '../../kernel/index.js';
import { onLostEvents } from './lost-events.js';
import { PathAnchor } from './path-anchor.js';
import { WatchedDirectories } from './watched-directories.js';

/** Starts to watch a path that need not exist; the directory that holds it must. */
export async function watchPath(path: Buffer, options: WatchOptions): Promise<FileWatch> {
  const watch = new LocalFileWatch(path, options);
  try {
    await watch.start();
    return watch;
  } catch (error) {
    await watch.close();
    throw error;
  }
}

/**
 * The path is watched through the directory that holds it, since a watch on a file itself goes deaf when the file is
 * replaced. Events only mark paths as dirty; one loop looks at each and says what is there now.
 */
class LocalFileWatch implements FileWatch {
  readonly path: string;
  readonly #target: Buffer;
  readonly #queue: ChangeQueue;
  readonly #directories: WatchedDirectories;
  #ownAnchor: PathAnchor | null = null;
  #endAnchor: PathAnchor | null = null;
  /** What the target was found to be, links resolved. */
  #end: Buffer;
  #stopHearing: () => void = () => undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => void this.close();
  #dirty = new Map<string, Buffer>();
  /** Events were dropped unseen, so new directories may lack a watch. */
  #lost = false;
  #looking = false;
  #closed = false;

  constructor(target: Buffer, options: WatchOptions) {
    this.#target = target;
    this.#end = target;
    this.path = shownPath(target);
    this.#queue = new ChangeQueue(options.debounceMs ?? 0);
    this.#signal = options.signal;
    this.#directories = new WatchedDirectories(options.recursive === true, {
      onEvent: (directory, event) => this.#onEntryEvent(directory, event),
      onFound: (path) => this.#markDirty(path),
      onBlind: () => this.#queue.overflow(),
    });
  }

  async start(): Promise<void> {
    requireWanted(this.#signal);
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#stopHearing = onLostEvents(() => this.#startAnew());
    if (!isRoot(this.#target)) {
      this.#ownAnchor = this.#anchor(this.#target, () => {
        this.#anchorAtEnd().then(
          () => this.#markDirty(this.#target),
          () => this.#queue.overflow(),
        );
      });
    }
    await this.#anchorAtEnd();
    await this.#directories.start(this.#target);
    requireWanted(this.#signal);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FileChanges> {
    yield* this.#queue.batches();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#stopHearing();
    this.#ownAnchor?.close();
    this.#endAnchor?.close();
    this.#directories.close();
    this.#queue.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** `onMoved` is told before the target is looked at again. */
  #anchor(path: Buffer, onMoved: () => void): PathAnchor {
    const anchor = new PathAnchor(path, {
      onTouched: () => this.#markDirty(this.#target),
      onMoved,
      onBlind: () => this.#queue.overflow(),
    });
    anchor.start();
    return anchor;
  }

  /** A link is watched at both ends: where it is, and where the file it leads to is. */
  async #anchorAtEnd(): Promise<void> {
    const real = await realpath(this.#target, { encoding: 'buffer' }).catch(() => this.#target);
    if (this.#closed || real.equals(this.#end)) return;
    this.#end = real;
    this.#endAnchor?.close();
    this.#endAnchor = real.equals(this.#target) || isRoot(real) ? null : this.#anchor(real, () => undefined);
  }

  #onEntryEvent(directory: Buffer, event: DirectoryEvent): void {
    // News about a directory itself also comes through the directory that holds it. An entry of the same name
    // cannot be told from it when written to, so only its coming and going is looked at.
    if (event.name !== null && (!event.maybeSelf || event.listChanged))
      this.#markDirty(childOf(directory, event.name));
  }

  #markDirty(path: Buffer): void {
    if (this.#closed) return;
    this.#dirty.set(path.toString('latin1'), path);
    if (this.#dirty.size > MAX_PENDING_CHANGES) this.#startAnew();
    else if (!this.#looking) void this.#lookAtAll();
  }

  /** Events were dropped, by the system or by us: everything has to be looked at again. */
  #startAnew(): void {
    this.#dirty.clear();
    this.#lost = true;
    if (!this.#looking) void this.#lookAtAll();
  }

  async #lookAtAll(): Promise<void> {
    this.#looking = true;
    while (!this.#closed && (this.#lost || this.#dirty.size > 0)) {
      if (this.#lost) await this.#startOver();
      for (const [key, path] of this.#dirty) {
        this.#dirty.delete(key);
        await this.#lookAt(path);
        if (this.#closed || this.#lost) break;
      }
    }
    this.#looking = false;
  }

  async #startOver(): Promise<void> {
    this.#lost = false;
    await this.#directories.start(this.#target).catch(() => undefined);
    this.#queue.overflow();
    if (this.#closed) this.#directories.close();
  }

  /** Never throws: what cannot be looked at is an overflow. */
  async #lookAt(path: Buffer): Promise<void> {
    const isTarget = path.equals(this.#target);
    const exists = await lstat(path).then(
      () => true,
      () => false,
    );
    if (exists || isTarget || (await this.#isRealRemoval(path)))
      this.#queue.add(shownPath(path), exists ? 'changed' : 'removed');
    await this.#directories.refresh(path, { isTop: isTarget }).catch(() => this.#queue.overflow());
    if (this.#closed) this.#directories.close();
  }

  /** News about `d` itself looks like news about `d/d`; when `d` is gone as well it was not about an entry. */
  async #isRealRemoval(path: Buffer): Promise<boolean> {
    if (!nameOf(path).equals(nameOf(parentOf(path)))) return true;
    return lstat(parentOf(path)).then(
      () => true,
      () => false,
    );
  }
}
