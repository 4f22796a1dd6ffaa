import { type FSWatcher, statSync, watch } from 'node:fs';

/** Programs follow each other under one policy, and setting up a watch for each is not worth it. */
const LINGER_MS = 5_000;

/** If a directory cannot be watched: we may not read it, or the user has run out of watches. */
const POLL_MS = 100;

/** Notified whenever one of its names is created, removed or replaced. */
export interface NameListener {
  readonly names: ReadonlySet<string>;
  readonly changed: (name: string) => void;
}

/** By directory: all listeners for names in it share one watch. */
const watched = new Map<string, WatchedDirectory>();

/** Watches names in a directory for changes. Returns an unsubscribe function. */
export function watchNames(directory: string, listener: NameListener): () => void {
  const known = watched.get(directory);
  const found = known?.isCurrent ? known : new WatchedDirectory(directory);
  watched.set(directory, found);
  return found.add(listener);
}

class WatchedDirectory {
  readonly #path: string;
  readonly #identity: string;
  readonly #listeners = new Set<NameListener>();
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
    try {
      this.#watcher = watch(path, { persistent: false }, (kind, name) => this.#tell(kind, name));
      this.#watcher.on('error', () => this.#fallBack());
    } catch {
      this.#fallBack();
    }
  }

  add(listener: NameListener): () => void {
    clearTimeout(this.#linger);
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#linger = setTimeout(() => this.#close(), LINGER_MS).unref();
    };
  }

  /** A watch belongs to the directory, not to its path: once the directory is replaced, a new watch is needed. */
  get isCurrent(): boolean {
    return this.#poll === undefined && this.#identity === identityOf(this.#path);
  }

  #tell(kind: string, name: string | null): void {
    // `change` concerns the content of a file.
    if (kind !== 'rename') return;
    for (const { names, changed } of [...this.#listeners])
      if (name === null || names.has(name)) changed(name ?? '');
  }

  #fallBack(): void {
    this.#watcher?.close();
    this.#poll ??= setInterval(() => this.#tell('rename', null), POLL_MS).unref();
  }

  #close(): void {
    if (watched.get(this.#path) === this) watched.delete(this.#path);
    this.#watcher?.close();
    clearInterval(this.#poll);
  }
}

function identityOf(path: string): string {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return '';
  }
}
