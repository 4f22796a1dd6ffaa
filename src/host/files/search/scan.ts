import { lstat, stat } from 'node:fs/promises';
import type { SearchQuery } from '../../../contract/index.js';
import { isExecError } from '../../../protocol/errors.js';
import { TimeSlice } from '../../kernel/index.js';
import { Descent } from '../access/descent.js';
import { entriesOf } from '../access/directories.js';
import { type HeldDirectory, holdResolved } from '../access/held-directory.js';
import { childOf, type Progress } from '../../kernel/index.js';
import { createLineMatcher, type LineMatcher } from './line-matcher.js';
import { hasOsCode, isSystemError } from '../access/os-error.js';
import { PathFilter } from './path-filter.js';
import { readToEnd } from '../access/read-file.js';
import { openToRead } from '../access/regular-file.js';
import type { RawMatch } from './search.js';
import { MAX_FILE_BYTES } from './search-limits.js';

const NEWLINE = 0x0a;

/** A NUL within this many bytes marks a file as binary, as in other tools. */
const BINARY_PROBE_BYTES = 8192;

/** Searches without any other program. Does not support ignore files. */
export async function* scanMatches(root: Buffer, query: SearchQuery): AsyncGenerator<RawMatch> {
  const scan = new Scan(query);
  const stats = await stat(root);
  if (stats.isFile()) yield* scan.matchesIn(root, root);
  else if (stats.isDirectory()) yield* scan.tree(root, []);
}

/** Like `scanMatches`, for one part of a directory: what lies at the end of these names. */
export async function* scanPart(
  root: Buffer,
  part: readonly Buffer[],
  query: SearchQuery,
): AsyncGenerator<RawMatch> {
  yield* new Scan(query).tree(root, part);
}

/** A directory the scan is in, and its names still to visit, the next one last. */
interface Level {
  readonly path: Buffer;
  readonly progress: Progress;
  readonly names: string[];
}

class Scan {
  readonly #matcher: LineMatcher;
  readonly #filter: PathFilter;
  readonly #hidden: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #slice = new TimeSlice();

  constructor(query: SearchQuery) {
    this.#matcher = createLineMatcher(query);
    this.#hidden = query.hidden === true;
    this.#filter = new PathFilter([...(this.#hidden ? ['!.git'] : []), ...(query.globs ?? [])]);
    this.#signal = query.signal;
  }

  /** Uses descriptors: no tree is too deep, and no directory swapped for a link leads out of it. */
  async *tree(root: Buffer, part: readonly Buffer[]): AsyncGenerator<RawMatch> {
    await using descent = new Descent(await holdResolved(root));
    let start = { path: root, progress: this.#filter.start };
    for (const name of part.slice(0, -1)) {
      if ((await orMissing(descent.enter(name))) === null) return;
      start = this.#entry(start, name);
    }
    const only = part.at(-1);
    const names = only === undefined ? await namesIn(descent.here) : [only.toString('latin1')];
    const levels: Level[] = [{ ...start, names }];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      if (this.#signal?.aborted === true) return;
      await this.#slice.yieldIfOver();
      const name = level.names.pop();
      if (name === undefined) {
        levels.pop();
        if (levels.length > 0) await descent.leave();
        continue;
      }
      const bytes = Buffer.from(name, 'latin1');
      const entry = this.#entry(level, bytes);
      const stats = await orMissing(lstat(descent.at(bytes)));
      if (stats?.isFile() === true) {
        const isWanted = stats.size <= MAX_FILE_BYTES && this.#wants(entry.progress, name, false);
        if (isWanted) yield* this.matchesIn(entry.path, descent.at(bytes));
      } else if (stats?.isDirectory() === true && this.#wants(entry.progress, name, true)) {
        if ((await orMissing(descent.enter(bytes))) !== null)
          levels.push({ ...entry, names: await namesIn(descent.here) });
      }
    }
  }

  /** `at` is where the file can be opened now, `path` its name. */
  async *matchesIn(path: Buffer, at: Buffer): AsyncGenerator<RawMatch> {
    const content = await orMissing(read(at, path !== at));
    if (content === null || content.subarray(0, BINARY_PROBE_BYTES).includes(0)) return;
    for await (const { from, column, line } of this.#matcher(content, this.#slice)) {
      if (this.#signal?.aborted === true) return;
      const end = content.indexOf(NEWLINE, from);
      const text = content.subarray(from, end < 0 ? content.length : end);
      yield { path, line, column, text: text.at(-1) === 0x0d ? text.subarray(0, -1) : text };
    }
  }

  #entry(
    directory: { path: Buffer; progress: Progress },
    name: Buffer,
  ): { path: Buffer; progress: Progress } {
    const path = childOf(directory.path, name);
    return { path, progress: this.#filter.enter(directory.progress, name.toString('latin1')) };
  }

  /** A matching glob includes hidden files, too. */
  #wants(progress: Progress, name: string, isDirectory: boolean): boolean {
    const verdict = this.#filter.judge(progress, isDirectory);
    return verdict === 'undecided' ? this.#hidden || !name.startsWith('.') : verdict === 'wanted';
  }
}

/** In byte order, so that pages fit together. */
async function namesIn(directory: HeldDirectory): Promise<string[]> {
  const names: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { name } of entriesOf(directory.at())) names.push(name.toString('latin1'));
  };
  await orMissing(reading());
  return names.sort().toReversed();
}

/** Within a tree, a link that took the place of a file is not followed. */
async function read(at: Buffer, isInTree: boolean): Promise<Buffer | null> {
  const { handle, stats } = await openToRead(at, { followSymlinks: !isInTree });
  try {
    return stats.size <= MAX_FILE_BYTES ? await readToEnd(handle, stats.size) : null;
  } finally {
    await handle.close();
  }
}

/** What is gone, was swapped or may not be read contains no matches. Running out of resources is an error. */
async function orMissing<Value>(call: Promise<Value>): Promise<Value | null> {
  try {
    return await call;
  } catch (error) {
    if (hasOsCode(error, 'EMFILE', 'ENFILE', 'ENOMEM') || !(isSystemError(error) || isExecError(error)))
      throw error;
    return null;
  }
}
