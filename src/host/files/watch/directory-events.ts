import { type FSWatcher, statSync, watch } from 'node:fs';
import { nameOf } from '../../kernel/index.js';
import { type Identity, identityOf } from '../access/file-identity.js';
import { countEvent } from './lost-events.js';

/** Something happened to an entry of a directory, or to the directory itself. */
export interface DirectoryEvent {
  /** Null if the system did not say which entry. */
  readonly name: Buffer | null;
  /** The system reports changes to the directory itself under its own name, so this may or may not be an entry. */
  readonly maybeSelf: boolean;
  /** An entry was added or removed, rather than written to. */
  readonly listChanged: boolean;
}

export interface DirectoryListener {
  /** The only entry of interest. Null: all of them. Events that may be about the directory itself always come. */
  readonly name: Buffer | null;
  onEvent(event: DirectoryEvent): void;
  onError(error: Error): void;
}

/** By path. Thousands may listen to one directory, and most of them to a single name. */
const watched = new Map<string, SharedDirectory>();

/** Reports events in one directory until closed. Throws if it cannot be watched. */
export function watchDirectory(path: Buffer, listener: DirectoryListener): { close(): void } {
  const key = path.toString('latin1');
  const identity = currentIdentity(path);
  const known = watched.get(key);
  const isCurrent = identity !== null && known?.identity === identity;
  const found = isCurrent ? known : new SharedDirectory(path, identity);
  watched.set(key, found);
  return found.add(listener);
}

/** One watch of the kernel for all listeners. It belongs to the directory, not to its path, which may be replaced. */
class SharedDirectory {
  readonly identity: Identity | null;
  readonly #key: string;
  readonly #ownName: Buffer;
  readonly #watcher: FSWatcher;
  /** By name; the empty name stands for all. */
  readonly #listeners = new Map<string, Set<DirectoryListener>>();

  constructor(path: Buffer, identity: Identity | null) {
    this.identity = identity;
    this.#key = path.toString('latin1');
    this.#ownName = nameOf(path);
    this.#watcher = watch(path, { encoding: 'buffer' }, (type, name) => this.#tell(type, name));
    this.#watcher.on('error', (error) => {
      for (const listener of this.#all()) listener.onError(error);
    });
  }

  add(listener: DirectoryListener): { close(): void } {
    const key = keyOf(listener);
    const others = this.#listeners.get(key);
    if (others) others.add(listener);
    else this.#listeners.set(key, new Set([listener]));
    return { close: () => this.#remove(listener) };
  }

  #remove(listener: DirectoryListener): void {
    const key = keyOf(listener);
    const others = this.#listeners.get(key);
    others?.delete(listener);
    if (others?.size === 0) this.#listeners.delete(key);
    if (this.#listeners.size > 0) return;
    this.#watcher.close();
    if (watched.get(this.#key) === this) watched.delete(this.#key);
  }

  #tell(type: string, name: Buffer | null): void {
    countEvent();
    const maybeSelf = name === null || name.equals(this.#ownName);
    const event = { name, maybeSelf, listChanged: type === 'rename' };
    const key = name?.toString('latin1') ?? '';
    for (const listener of maybeSelf ? this.#all() : this.#interestedIn(key))
      if (this.#listeners.get(keyOf(listener))?.has(listener) === true) listener.onEvent(event);
  }

  /** A copy, because listeners come and go during the calls. */
  #all(): DirectoryListener[] {
    return [...this.#listeners.values()].flatMap((each) => [...each]);
  }

  #interestedIn(name: string): DirectoryListener[] {
    return [...(this.#listeners.get('') ?? []), ...(this.#listeners.get(name) ?? [])];
  }
}

function keyOf({ name }: DirectoryListener): string {
  return name?.toString('latin1') ?? '';
}

/** Null if there is nothing, or nothing we may see. */
function currentIdentity(path: Buffer): Identity | null {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return null;
  }
}
