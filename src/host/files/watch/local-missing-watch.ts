import { lstat, stat } from 'node:fs/promises';
import type { MissingWatch } from '../../../contract/index.js';
import { watchDirectory } from './directory-events.js';
import { childOf, componentsOf, nameOf, parentOf } from '../../kernel/index.js';
import { MAX_MISSING_PATHS } from '../access/limits.js';
import { onLostEvents } from './lost-events.js';

interface MissingOptions {
  readonly present: Buffer | null;
  readonly signal: AbortSignal | undefined;
}

/** Null if there is nothing to wait for. */
export async function watchMissing(
  missing: readonly Buffer[],
  options: MissingOptions,
): Promise<MissingWatch | null> {
  if (missing.length === 0 || missing.length > MAX_MISSING_PATHS) return null;
  const watch = new LocalMissingWatch(options.signal);
  try {
    // Checked after the watches are in place: what appears in between is either seen now or reported.
    for (const path of missing) watch.expect(await firstMissing(path));
    if (options.present !== null) watch.expect(options.present);
    if (await stillWaiting(missing, options.present)) return watch;
  } catch {
    // A directory went away between being found and being watched: ask again.
  }
  await watch.close();
  return null;
}

async function stillWaiting(missing: readonly Buffer[], present: Buffer | null): Promise<boolean> {
  if (present !== null && !(await exists(present))) return false;
  for (const path of missing) if (await exists(path)) return false;
  return true;
}

/** The first component of `path` that is not a directory. */
async function firstMissing(path: Buffer): Promise<Buffer> {
  let at = Buffer.from('/') as Buffer;
  for (const name of componentsOf(path)) {
    at = childOf(at, name);
    if (!(await isDirectory(at))) return at;
  }
  return path;
}

class LocalMissingWatch implements MissingWatch {
  readonly changed: Promise<boolean>;
  readonly #watchers: { close(): void }[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #settle: (changed: boolean) => void;
  readonly #stopHearing: () => void;
  readonly #onAbort = (): void => void this.close();

  constructor(signal: AbortSignal | undefined) {
    let settle: (changed: boolean) => void = () => undefined;
    this.changed = new Promise((resolve) => (settle = resolve));
    this.#settle = settle;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#stopHearing = onLostEvents(() => this.#fire());
  }

  /** Watches for any change to `path`, through its parent directory. */
  expect(path: Buffer): void {
    const directory = parentOf(path);
    const expected = nameOf(path);
    const watcher = watchDirectory(directory, {
      name: expected,
      onEvent: ({ name, maybeSelf, listChanged }) => {
        if (name === null || expected.equals(name)) this.#fire();
        else if (maybeSelf && listChanged) void this.#fireIfGone(directory);
      },
      onError: () => this.#fire(),
    });
    this.#watchers.push(watcher);
  }

  async close(): Promise<void> {
    this.#release();
    this.#settle(false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #fire(): void {
    this.#release();
    this.#settle(true);
  }

  /** Nothing can appear in a directory that is gone; the caller has to look again. */
  async #fireIfGone(directory: Buffer): Promise<void> {
    if (!(await exists(directory))) this.#fire();
  }

  #release(): void {
    this.#stopHearing();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }
}

/** A dangling link counts as existing: something is at that path. */
async function exists(path: Buffer): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isDirectory(path: Buffer): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
