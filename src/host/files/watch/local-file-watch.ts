import { lstat, realpath } from 'node:fs/promises';
import {
  ChangeQueue,
  type FileChanges,
  type FileWatch,
  MAX_PENDING_CHANGES,
  type WatchOptions,
} from '../../../contract/index.js';
import { throwIfAborted } from '../access/abort.js';
import type { DirectoryEvent } from './directory-events.js';
import { childOf, isRoot, nameOf, parentOf, shownPath } from '../../kernel/index.js';
import { onLostEvents } from './lost-events.js';
import { PathAnchor } from './path-anchor.js';
import { WatchedDirectories } from './watched-directories.js';

/** Starts watching a path that need not exist; its parent directory must. */
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
 * The path is watched through its parent directory, since a watch on a file itself goes silent when the file is
 * replaced. Events only mark paths as dirty; one loop inspects each and reports its current state.
 */
class LocalFileWatch implements FileWatch {
  readonly path: string;
  readonly #target: Buffer;
  readonly #queue: ChangeQueue;
  readonly #directories: WatchedDirectories;
  #ownAnchor: PathAnchor | null = null;
  #endAnchor: PathAnchor | null = null;
  /** The target with links resolved. */
  #end: Buffer;
  #unsubscribe: () => void = () => undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => void this.close();
  #dirty = new Map<string, Buffer>();
  /** Events were lost, so new directories may lack a watch. */
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
      onUnwatchable: () => this.#queue.overflow(),
    });
  }

  async start(): Promise<void> {
    throwIfAborted(this.#signal);
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#unsubscribe = onLostEvents(() => this.#rescan());
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
    throwIfAborted(this.#signal);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FileChanges> {
    yield* this.#queue.batches();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#unsubscribe();
    this.#ownAnchor?.close();
    this.#endAnchor?.close();
    this.#directories.close();
    this.#queue.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** `onMoved` is called before the target is inspected again. */
  #anchor(path: Buffer, onMoved: () => void): PathAnchor {
    const anchor = new PathAnchor(path, {
      onTouched: () => this.#markDirty(this.#target),
      onMoved,
      onUnwatchable: () => this.#queue.overflow(),
    });
    anchor.start();
    return anchor;
  }

  /** A link is watched at both ends: where it is, and where the file it points to is. */
  async #anchorAtEnd(): Promise<void> {
    const real = await realpath(this.#target, { encoding: 'buffer' }).catch(() => this.#target);
    if (this.#closed || real.equals(this.#end)) return;
    this.#end = real;
    this.#endAnchor?.close();
    this.#endAnchor = real.equals(this.#target) || isRoot(real) ? null : this.#anchor(real, () => undefined);
  }

  #onEntryEvent(directory: Buffer, event: DirectoryEvent): void {
    // Changes to a directory itself are also reported through its parent. They cannot be told from writes to an entry
    // of the same name, so only additions and removals of that entry count.
    if (event.name !== null && (!event.maybeSelf || event.listChanged))
      this.#markDirty(childOf(directory, event.name));
  }

  #markDirty(path: Buffer): void {
    if (this.#closed) return;
    this.#dirty.set(path.toString('latin1'), path);
    if (this.#dirty.size > MAX_PENDING_CHANGES) this.#rescan();
    else if (!this.#looking) void this.#lookAtAll();
  }

  /** Events were lost, by the system or by us: everything has to be inspected again. */
  #rescan(): void {
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

  /** Never throws: a path that cannot be inspected counts as an overflow. */
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

  /** A change to `d` itself looks like one to `d/d`; if `d` is gone as well, it was not about an entry. */
  async #isRealRemoval(path: Buffer): Promise<boolean> {
    if (!nameOf(path).equals(nameOf(parentOf(path)))) return true;
    return lstat(parentOf(path)).then(
      () => true,
      () => false,
    );
  }
}
