import { closeSync } from 'node:fs';
import { dropStored, storedName, storeSocket } from './service-manager.js';

/**
 * Listening sockets that systemd keeps while there is no keeper. Nothing else is worth keeping: programs end with their
 * keeper, and what is left of them is on disk.
 */
export class StoredListeners {
  readonly #mark: string;
  readonly #names = new Set<string>();

  /** `argv`: the server's command line. A different one may mean different addresses. */
  constructor(argv: readonly string[]) {
    this.#mark = markOf(argv.join('\0'));
  }

  /** Returns those that are ours, by listener name. The others are closed and dropped. */
  taken(stored: ReadonlyMap<string, number>): Map<string, number> {
    const ours = new Map<string, number>();
    const start = storedName(this.#mark, '');
    for (const [name, fd] of stored) {
      if (name.startsWith(start)) {
        this.#names.add(name);
        ours.set(name.slice(start.length), fd);
      } else {
        closeSync(fd);
        dropStored(name);
      }
    }
    return ours;
  }

  keep(names: readonly string[], sockets: readonly number[]): void {
    for (const [index, fd] of sockets.entries()) {
      const name = storedName(this.#mark, names[index] ?? '');
      this.#names.add(name);
      storeSocket(name, fd);
    }
  }

  /** Call when the server has closed them in an orderly way: a unix socket is useless once its name is gone. */
  drop(): void {
    for (const name of this.#names) dropStored(name);
  }
}

/** FNV-1a, twice: enough to distinguish edited command lines, and it needs no library. */
function markOf(text: string): string {
  return [0x811c9dc5, 0x1000193].map((seed) => fnv(text, seed).toString(16).padStart(8, '0')).join('');
}

function fnv(text: string, seed: number): number {
  let hash = seed;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
