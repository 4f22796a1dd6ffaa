import { appendFileSync, type BigIntStats, readFileSync } from 'node:fs';
import type { Epochs } from './epochs.js';
import { isFull } from './full-disk.js';
import type { FoundChange } from './scan.js';

/** What was below a change when we first saw it. */
interface Seen {
  /** Null: nothing. */
  readonly identity: string | null;
  /** It had changed after the program took it over. */
  readonly stale: boolean;
}

/** Keys are the number of the root and the path in it. */
type Line = readonly [key: string, identity: string | null, stale: boolean];

/**
 * Remembers what was below each change, to tell whether somebody else has changed it since. A program takes a file over
 * when it first changes it, which is when the held file is born. It may have read it long before, so what counts is when its
 * epoch began. What was deleted has no such time, so there the time counts at which the directory was first held.
 */
export class Bases {
  readonly #file: string;
  readonly #seen = new Map<string, Seen>();
  /** What ends the line before the next one, if only part of it was written. */
  #separator: string;

  readonly #epochs: Epochs;

  constructor(file: string, epochs: Epochs) {
    this.#file = file;
    this.#epochs = epochs;
    const text = readText(file);
    this.#separator = text === '' || text.endsWith('\n') ? '' : '\n';
    for (const [key, identity, stale] of linesOf(text)) this.#seen.set(key, { identity, stale });
  }

  /** Remembers what is below changes that are new. */
  note(root: number, changes: readonly FoundChange[], heldSinceNs: bigint): void {
    const fresh = changes.flatMap((change): Line[] => {
      const key = keyOf(root, change.path);
      if (this.#seen.has(key)) return [];
      return [[key, identityOf(change.base), this.#isNewer(change, heldSinceNs)]];
    });
    this.#write(fresh);
  }

  /** What is below is what we made it: remember that instead. */
  applied(root: number, paths: readonly { path: string; base: BigIntStats | null }[]): void {
    this.#write(paths.map(({ path, base }): Line => [keyOf(root, path), identityOf(base), false]));
  }

  /** True if somebody else has changed what is below since the program took it over. */
  isConflict(root: number, { path, base }: FoundChange): boolean {
    const seen = this.#seen.get(keyOf(root, path));
    return seen !== undefined && (seen.stale || seen.identity !== identityOf(base));
  }

  #isNewer({ held, base }: FoundChange, heldSinceNs: bigint): boolean {
    if (base === null || base.isDirectory()) return false;
    if (!held) return base.ctimeNs > heldSinceNs;
    // The clock of file times ticks slowly: of two things in one tick, nobody knows which was first. Asking loses nothing.
    if (base.ctimeNs >= held.birthtimeNs) return true;
    const epoch = this.#epochs.at(held.birthtimeNs);
    return epoch !== null && base.ctimeNs > epoch;
  }

  #write(lines: readonly Line[]): void {
    if (lines.length === 0) return;
    for (const [key, identity, stale] of lines) this.#seen.set(key, { identity, stale });
    const text = this.#separator + lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    try {
      appendFileSync(this.#file, text, { mode: 0o600 });
      this.#separator = '';
    } catch (error) {
      if (!isFull(error)) throw error;
      // Whoever looks at changes on a full disk wants to make room. The times of files still tell most of it.
      this.#separator = '\n';
    }
  }
}

function keyOf(root: number, path: string): string {
  return `${root}/${path}`;
}

/** A directory also changes with what is in it, which is checked on its own. */
function identityOf(node: BigIntStats | null): string | null {
  if (node === null) return null;
  const common = `${node.dev}:${node.ino}:${node.mode}:${node.uid}:${node.gid}`;
  return node.isDirectory() ? common : `${common}:${node.size}:${node.mtimeNs}:${node.ctimeNs}`;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A line of which only part was written is not one. */
function linesOf(text: string): Line[] {
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete.split('\n').flatMap((line): Line[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}
