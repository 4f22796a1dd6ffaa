import { ExecError } from '../../../protocol/errors.js';
import type { Identity } from './file-identity.js';
import type { HeldDirectory } from './held-directory.js';

/** Directories held at a time, however deep the tree is. At least the top, the deepest and its parent. */
const MAX_HELD = 16;

const PARENT = Buffer.from('..');

interface Level {
  /** Empty for the top. */
  readonly name: Buffer;
  /** Null while released. */
  held: HeldDirectory | null;
  /** Known once it has been released. */
  identity: Identity | null;
}

/**
 * Walks down a tree and up again, step by step. Every directory is entered through the descriptor of its parent, so a
 * directory swapped for a link never leads out of the tree, and no path is too long. Only the deepest few are held. On
 * the way up the others are reopened, and must be the very directories that were left.
 */
export class Descent implements AsyncDisposable {
  readonly #levels: Level[];
  readonly #followSymlinks: boolean;

  /** Takes ownership of `top`, which stays held to the end. */
  constructor(top: HeldDirectory, options: { followSymlinks?: boolean } = {}) {
    this.#levels = [{ name: Buffer.alloc(0), held: top, identity: null }];
    this.#followSymlinks = options.followSymlinks === true;
  }

  /** The current directory. */
  get here(): HeldDirectory {
    return heldAt(this.#levels.at(-1));
  }

  /** A path for `name` in the current directory, valid until the next step. */
  at(name?: Buffer): Buffer {
    return this.here.at(name);
  }

  async enter(name: Buffer): Promise<void> {
    const held = await this.here.enter(name, { followSymlinks: this.#followSymlinks });
    this.#levels.push({ name, held, identity: null });
    // Each step adds one level, so at most one has to be released.
    const oldest = this.#levels.length - MAX_HELD;
    if (oldest > 0) await release(this.#levels[oldest]);
  }

  /** Back to the parent directory. Returns the name of the one left. */
  async leave(): Promise<Buffer> {
    const above = this.#levels.at(-2);
    const left = this.#levels.at(-1);
    if (above === undefined || left === undefined) throw new Error('the top cannot be left');
    above.held ??= (await this.#throughParent(left, above)) ?? (await this.#fromAbove(above));
    this.#levels.pop();
    await left.held?.close();
    return left.name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const level of this.#levels) {
      await level.held?.close();
      level.held = null;
    }
  }

  /** Null if the directory has been moved, or was entered through a link. */
  async #throughParent(left: Level, above: Level): Promise<HeldDirectory | null> {
    const parent = await heldAt(left)
      .enter(PARENT)
      .catch(() => null);
    if (parent === null || (await isSame(parent, above))) return parent;
    await parent.close();
    return null;
  }

  /** By the same names as before, from the lowest directory still held. */
  async #fromAbove(wanted: Level): Promise<HeldDirectory> {
    const to = this.#levels.indexOf(wanted);
    let from = to - 1;
    while (this.#levels[from]?.held === null) from -= 1;
    let at = heldAt(this.#levels[from]);
    for (const level of this.#levels.slice(from + 1, to + 1)) {
      const next = await at.enter(level.name, { followSymlinks: this.#followSymlinks }).catch(() => null);
      if (at !== this.#levels[from]?.held) await at.close();
      if (next === null) throw movedAway();
      at = next;
      if (await isSame(at, level)) continue;
      await at.close();
      throw movedAway();
    }
    return at;
  }
}

function heldAt(level: Level | undefined): HeldDirectory {
  if (level === undefined || level.held === null) throw new Error('the directory is not held');
  return level.held;
}

async function release(level: Level | undefined): Promise<void> {
  if (level === undefined || level.held === null) return;
  level.identity ??= await level.held.identity();
  const { held } = level;
  level.held = null;
  await held.close();
}

async function isSame(directory: HeldDirectory, level: Level): Promise<boolean> {
  return (await directory.identity().catch(() => null)) === level.identity;
}

function movedAway(): ExecError {
  return new ExecError('ioFailed', 'A directory was moved while its tree was being worked on. Try again.');
}
