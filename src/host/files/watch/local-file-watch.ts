import type { ChangeReader, FileChanges, FileWatch, WatchOptions } from '../../../contract/index.js';
import { isRoot, parentOf, shownPath } from '../../kernel/index.js';
import { throwIfAborted } from '../access/abort.js';
import { watchDirectory } from './directory-events.js';
import { WatchedPath } from './watched-path.js';

/** A watched path, and how many watches use it. */
interface Shared {
  readonly source: WatchedPath;
  readonly started: Promise<void>;
  users: number;
}

/** All watches of one path share the work, so that a change costs the same however many there are. */
const shared = new Map<string, Shared>();

/** Starts watching a path that need not exist; its parent directory must. */
export async function watchPath(path: Buffer, options: WatchOptions): Promise<FileWatch> {
  const { signal, recursive = false, debounceMs = 0 } = options;
  throwIfAborted(signal);
  const key = `${recursive ? 'all' : 'one'}:${path.toString('latin1')}`;
  const known = shared.get(key);
  const used = known ?? begin(key, path, recursive);
  used.users += 1;
  const release = (): void => {
    used.users -= 1;
    if (used.users > 0) return;
    used.source.close();
    if (shared.get(key) === used) shared.delete(key);
  };
  try {
    // The first watch also reports what changes while it is set up.
    const first = known ? null : used.source.changes.open(debounceMs);
    await orAborted(used.started, signal);
    if (known) await assertCurrent(path, used.source);
    throwIfAborted(signal);
    const reader = first ?? used.source.changes.open(debounceMs);
    return new LocalFileWatch({ path: shownPath(path), reader, signal, release });
  } catch (error) {
    release();
    throw error;
  }
}

function begin(key: string, path: Buffer, recursive: boolean): Shared {
  const source = new WatchedPath(path, { recursive });
  const begun: Shared = { source, started: source.start(), users: 0 };
  shared.set(key, begun);
  // After a failure, the next caller tries again.
  begun.started.catch(() => shared.get(key) === begun && shared.delete(key));
  return begun;
}

/** Later watchers get the same errors as the first, and no earlier events. */
async function assertCurrent(path: Buffer, source: WatchedPath): Promise<void> {
  if (!isRoot(path))
    watchDirectory(parentOf(path), {
      name: null,
      onEvent: () => undefined,
      onError: () => undefined,
    }).close();
  await source.untilListed();
}

/** A caller that gives up need not wait: a large tree takes time. */
async function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  let giveUp = (): void => undefined;
  const aborted = new Promise<void>((resolve) => (giveUp = resolve));
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
  throwIfAborted(signal);
}

class LocalFileWatch implements FileWatch {
  readonly path: string;
  readonly #reader: ChangeReader;
  readonly #signal: AbortSignal | undefined;
  readonly #release: () => void;
  readonly #onAbort = (): void => void this.close();
  #closed = false;

  constructor(options: {
    path: string;
    reader: ChangeReader;
    signal: AbortSignal | undefined;
    release: () => void;
  }) {
    this.path = options.path;
    this.#reader = options.reader;
    this.#signal = options.signal;
    this.#release = options.release;
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FileChanges> {
    yield* this.#reader.batches();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#reader.close();
    this.#release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
