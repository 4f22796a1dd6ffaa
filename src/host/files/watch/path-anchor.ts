import { type DirectoryEvent, watchDirectory } from './directory-events.js';
import { childOf, componentsOf } from '../../kernel/index.js';
import { hasOsCode } from '../access/os-error.js';

/** A directory on the way and the name in it that leads on. */
interface Step {
  readonly directory: Buffer;
  readonly name: Buffer;
  watcher: { close(): void } | null;
}

interface AnchorHandlers {
  /** Something happened to what is at the path, or to the way to it. */
  onTouched(): void;
  /** The way changed: what the path leads to may be another thing now. */
  onMoved(): void;
  /** The directory that holds the path is there and cannot be watched. */
  onBlind(): void;
}

/**
 * Watches a path through the directory that holds it, and every directory above that: a watch stays with its directory
 * when that is moved away, and would never hear of another one that takes its place.
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

  /** Throws when the directory that holds the path cannot be watched. */
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
        onEvent: (event) => this.#onEvent(step, event),
        onError: () => (isLast ? this.#handlers.onBlind() : undefined),
      });
    } catch (error) {
      // Further up is a matter of luck: not every directory on the way may be read by everyone.
      if (isLast) throw error;
    }
  }

  #onEvent(step: Step, event: DirectoryEvent): void {
    if (this.#closed || !(event.name === null || event.maybeSelf || event.name.equals(step.name))) return;
    if (event.listChanged || event.name === null) this.#wayChanged(step);
    else if (step === this.#steps.at(-1)) this.#handlers.onTouched();
  }

  /** From the top down: what is made while this goes on is seen by the watch above it. */
  #wayChanged(changed: Step): void {
    for (const step of this.#steps.slice(this.#steps.indexOf(changed) + 1)) {
      step.watcher?.close();
      step.watcher = null;
      try {
        this.#watch(step);
      } catch (error) {
        if (!hasOsCode(error, 'ENOENT', 'ENOTDIR')) this.#handlers.onBlind();
      }
    }
    this.#handlers.onMoved();
    this.#handlers.onTouched();
  }
}
