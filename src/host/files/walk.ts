import type { Dirent, Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import type { WalkOptions, WalkResult } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { entriesOf } from './directories.js';
import { childOf, shownPath } from './host-path.js';
import { WALK_LIMITS, WALK_REPLY_BYTES } from './limits.js';
import { asExecError } from './os-error.js';

const DOT = 0x2e;

/** What an entry costs in the answer beside its path: quotes, braces and field names. */
const ENTRY_OVERHEAD_BYTES = 40;

export async function walk(root: Buffer, options: WalkOptions): Promise<WalkResult> {
  const walker = new Walker(options);
  await walker.run(root);
  return walker.result();
}

class Walker {
  readonly #maxDepth: number;
  readonly #maxDirectories: number;
  readonly #maxEntries: number;
  readonly #follow: boolean;
  readonly #prune: boolean;
  readonly #entries: { path: string; kind: 'directory' | 'file' }[] = [];
  readonly #errors: { path: string; message: string }[] = [];
  /** Real paths of directories on the list, when links are followed: cuts cycles. */
  readonly #visited = new Set<string>();
  #queue: { path: Buffer; depth: number }[] = [];
  #directories = 0;
  #seen = 0;
  #replyBytes = 0;
  #truncated = false;
  #full = false;

  constructor(options: WalkOptions) {
    this.#maxDepth = options.maxDepth ?? WALK_LIMITS.depth;
    this.#maxDirectories = options.maxDirectories ?? WALK_LIMITS.directories;
    this.#maxEntries = options.maxEntries ?? WALK_LIMITS.entries;
    this.#follow = options.followDirectorySymlinks === true;
    this.#prune = options.pruneHiddenDirectories === true;
    this.#checkLimits();
  }

  async run(root: Buffer): Promise<void> {
    const own = await lstat(root);
    const isDirectory = own.isSymbolicLink()
      ? this.#follow && (await stat(root)).isDirectory()
      : own.isDirectory();
    if (!isDirectory) return;
    await this.#enqueue(root, 0);
    for (let next = this.#queue.shift(); next !== undefined && !this.#full; next = this.#queue.shift())
      await this.#list(next.path, next.depth);
  }

  result(): WalkResult {
    return { entries: this.#entries, errors: this.#errors, truncated: this.#truncated };
  }

  #checkLimits(): void {
    const { depth, directories, entries } = WALK_LIMITS;
    if (this.#maxDirectories < 1 || this.#maxEntries < 1)
      throw new ExecError('invalidLimit', 'filesystem walk limits must be greater than zero');
    if (this.#maxDepth > depth || this.#maxDirectories > directories || this.#maxEntries > entries)
      throw new ExecError(
        'invalidLimit',
        `filesystem walk limits exceed maximums: depth=${depth}, directories=${directories}, entries=${entries}`,
      );
  }

  async #list(directory: Buffer, depth: number): Promise<void> {
    let children: Dirent<Buffer>[];
    try {
      children = await this.#sortedChildren(directory);
    } catch (error) {
      this.#errors.push({ path: shownPath(directory), message: asExecError(error).message });
      return;
    }
    for (const child of children) {
      if (this.#seen === this.#maxEntries) return this.#stop();
      this.#seen += 1;
      await this.#visit(childOf(directory, child.name), child, depth);
      if (this.#full) return;
    }
  }

  /** More than what may still be listed is not kept; which of them then come first is not defined. */
  async #sortedChildren(directory: Buffer): Promise<Dirent<Buffer>[]> {
    const children: Dirent<Buffer>[] = [];
    for await (const child of entriesOf(directory)) {
      children.push(child);
      if (children.length > WALK_LIMITS.entries) break;
    }
    return children.sort((a, b) => Buffer.compare(a.name, b.name));
  }

  async #visit(path: Buffer, child: Dirent<Buffer>, depth: number): Promise<void> {
    const kind = await this.#kindOf(path, child);
    if (kind === null) return;
    const shown = shownPath(path);
    this.#replyBytes += shown.length + ENTRY_OVERHEAD_BYTES;
    if (this.#replyBytes > WALK_REPLY_BYTES) return this.#stop();
    this.#entries.push({ path: shown, kind });
    const enter = kind === 'directory' && depth < this.#maxDepth && !(this.#prune && child.name[0] === DOT);
    if (enter) await this.#enqueue(path, depth + 1);
  }

  /** Null for what a walk leaves out: special files, and links that are not followed to a directory. */
  async #kindOf(path: Buffer, child: Dirent<Buffer>): Promise<'directory' | 'file' | null> {
    if (child.isDirectory()) return 'directory';
    if (child.isFile()) return 'file';
    const isUnknown = !child.isSymbolicLink() && !child.isFIFO() && !child.isSocket();
    const own = isUnknown ? await statOrNull(lstat(path)) : null;
    if (own?.isDirectory() === true) return 'directory';
    if (own?.isFile() === true) return 'file';
    if (!this.#follow || !(child.isSymbolicLink() || own?.isSymbolicLink() === true)) return null;
    return (await statOrNull(stat(path)))?.isDirectory() === true ? 'directory' : null;
  }

  async #enqueue(path: Buffer, depth: number): Promise<void> {
    if (this.#follow && !(await this.#isFirstVisit(path))) return;
    if (this.#directories === this.#maxDirectories) {
      this.#truncated = true;
      return;
    }
    this.#directories += 1;
    this.#queue.push({ path, depth });
  }

  async #isFirstVisit(path: Buffer): Promise<boolean> {
    const real = await realpath(path, { encoding: 'buffer' }).catch(() => path);
    const key = real.toString('latin1');
    if (this.#visited.has(key)) return false;
    this.#visited.add(key);
    return true;
  }

  #stop(): void {
    this.#truncated = true;
    this.#full = true;
  }
}

function statOrNull(stats: Promise<Stats>): Promise<Stats | null> {
  return stats.catch(() => null);
}
