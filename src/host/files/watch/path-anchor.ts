import { type DirectoryEvent, watchDirectory } from './directory-events.js';
import { childOf, componentsOf } from '../../kernel/index.js';
import { hasOsCode } from '../access/os-error.js';

/** A directory on the path and the name in it that leads on. */
interface Step {
  readonly directory: Buffer;
  readonly name: Buffer;
  watcher: { close(): void } | null;
}

interface AnchorHandlers {
  /** Something happened to what is at the path, or to one of its parents. */
  onTouched(): void;
  /** A parent changed: the path may lead to something else now. */
  onMoved(): void;
  /** The parent directory exists but cannot be watched. */
  onUnwatchable(): void;
}

/**
 * Watches a path through its parent directory and every directory above: a watch stays with its directory when that is
 * moved away, and would never see another one take its place.
 */
export class PathAnchor {
  readonly #steps: Step[] = [];
  readonly #handlers: AnchorHandlers;
  #closed = false;

  constructor(path: Buffer, handlers: AnchorHandlers) {
    this.#handlers = handlers;
    let directory = Buffer.from('/') as Buffer;
    for (const name of componentsOf(path)) {
      this.#steps.push({ directory, name, watcher: null });
      directory = childOf(directory, name);
    }
  }

  /** Throws if the parent directory cannot be watched. */
  start(): void {
    try {
      for (const step of this.#steps) this.#watch(step);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    for (const { watcher } of this.#steps) watcher?.close();
  }

  #watch(step: Step): void {
    const isLast = step === this.#steps.at(-1);
    try {
      step.watcher = watchDirectory(step.directory, {
        name: step.name,
        onEvent: (event) => this.#onEvent(step, event),
        onError: () => (isLast ? this.#handlers.onUnwatchable() : undefined),
      });
    } catch (error) {
      // Directories further up are optional: not everyone may read all of them.
      if (isLast) throw error;
    }
  }

  #onEvent(step: Step, event: DirectoryEvent): void {
    if (this.#closed || !(event.name === null || event.maybeSelf || event.name.equals(step.name))) return;
    if (event.listChanged || event.name === null) this.#ancestorChanged(step);
    else if (step === this.#steps.at(-1)) this.#handlers.onTouched();
  }

  /** From the top down: what is created meanwhile is seen by the watch above it. */
  #ancestorChanged(changed: Step): void {
    for (const step of this.#steps.slice(this.#steps.indexOf(changed) + 1)) {
      step.watcher?.close();
      step.watcher = null;
      try {
        this.#watch(step);
      } catch (error) {
        if (!hasOsCode(error, 'ENOENT', 'ENOTDIR')) this.#handlers.onUnwatchable();
      }
    }
    this.#handlers.onMoved();
    this.#handlers.onTouched();
  }
}
