import { lstat, realpath } from 'node:fs/promises';
import { ChangeLog, MAX_PENDING_CHANGES } from '../../../contract/index.js';
import type { DirectoryEvent } from './directory-events.js';
import { childOf, isRoot, nameOf, parentOf, shownPath } from '../../kernel/index.js';
import { onLostEvents } from './lost-events.js';
import { PathAnchor } from './path-anchor.js';
import { WatchedDirectories } from './watched-directories.js';

/**
 * The path is watched through its parent directory, since a watch on a file itself goes silent when the file is
 * replaced. Events only mark paths as dirty; one loop inspects each and reports its current state.
 */
export class WatchedPath {
  readonly changes = new ChangeLog();
  readonly #target: Buffer;
  readonly #directories: WatchedDirectories;
  #ownAnchor: PathAnchor | null = null;
  #endAnchor: PathAnchor | null = null;
  /** The target with links resolved. */
  #end: Buffer;
  #unsubscribe: () => void = () => undefined;
  #dirty = new Map<string, Buffer>();
  /** Events were lost, so new directories may lack a watch. */
  #lost = false;
  #looking = false;
  #closed = false;
  /** Paths inspected so far, and who waits until it is some number. */
  #looked = 0;
  #fences: { readonly at: number; readonly resolve: () => void }[] = [];

  constructor(target: Buffer, { recursive }: { recursive: boolean }) {
    this.#target = target;
    this.#end = target;
    this.#directories = new WatchedDirectories(recursive, {
      onEvent: (directory, event) => this.#onEntryEvent(directory, event),
      onFound: (path) => this.#markDirty(path),
      onUnwatchable: () => this.changes.overflow(),
    });
  }

  /** Throws if the path cannot be watched. */
  async start(): Promise<void> {
    this.#unsubscribe = onLostEvents(() => this.#rescan());
    if (!isRoot(this.#target)) {
      this.#ownAnchor = this.#anchor(this.#target, () => {
        this.#anchorAtEnd().then(
          () => this.#markDirty(this.#target),
          () => this.changes.overflow(),
        );
      });
    }
    await this.#anchorAtEnd();
    await this.#directories.start(this.#target);
    if (this.#closed) this.#directories.close();
  }

  /** Resolves when what has happened so far is in the list. */
  async untilListed(): Promise<void> {
    // The kernel's events are read between two turns.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    if (!this.#looking) return;
    const at = this.#looked + this.#dirty.size + 1;
    await new Promise<void>((resolve) => this.#fences.push({ at, resolve }));
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    this.#ownAnchor?.close();
    this.#endAnchor?.close();
    this.#directories.close();
  }

  /** `onMoved` is called before the target is inspected again. */
  #anchor(path: Buffer, onMoved: () => void): PathAnchor {
    const anchor = new PathAnchor(path, {
      onTouched: () => this.#markDirty(this.#target),
      onMoved,
      onUnwatchable: () => this.changes.overflow(),
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
        this.#looked += 1;
        this.#pass(this.#looked);
        if (this.#closed || this.#lost) break;
      }
    }
    this.#looking = false;
    this.#pass(Infinity);
  }

  #pass(looked: number): void {
    const passed = this.#fences.filter(({ at }) => at <= looked);
    if (passed.length === 0) return;
    this.#fences = this.#fences.filter(({ at }) => at > looked);
    for (const { resolve } of passed) resolve();
  }

  async #startOver(): Promise<void> {
    this.#lost = false;
    await this.#directories.start(this.#target).catch(() => undefined);
    this.changes.overflow();
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
      this.changes.add(shownPath(path), exists ? 'changed' : 'removed');
    await this.#directories.refresh(path, { isTop: isTarget }).catch(() => this.changes.overflow());
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
