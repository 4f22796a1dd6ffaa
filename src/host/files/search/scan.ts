import { lstat } from 'node:fs/promises';
import type { SearchQuery } from '../../../contract/index.js';
import { entriesOf } from '../access/directories.js';
import { createPathFilter, type PathFilter } from './glob.js';
import { childOf, nameOf } from '../../kernel/host-path.js';
import { createLineMatcher, type LineMatcher } from './line-matcher.js';
import { hasOsCode } from '../access/os-error.js';
import { readFile } from '../access/read-file.js';
import type { RawMatch } from './search.js';
import { MAX_FILE_BYTES } from './search-limits.js';

const DOT = 0x2e;
const NEWLINE = 0x0a;

/** A NUL in the first bytes marks a file as binary, as other tools judge. */
const BINARY_PROBE_BYTES = 8192;

/** Searches without any other program. It does not know ignore files. */
export async function* scanMatches(root: Buffer, query: SearchQuery): AsyncGenerator<RawMatch> {
  const matcher = createLineMatcher(query);
  const wanted = createPathFilter(query.globs ?? []);
  for await (const path of filesBelow(root, query, { wanted, root })) {
    if (query.signal?.aborted === true) return;
    yield* matchesIn(path, matcher);
  }
}

interface Scope {
  readonly wanted: PathFilter;
  readonly root: Buffer;
}

async function* filesBelow(path: Buffer, query: SearchQuery, scope: Scope): AsyncGenerator<Buffer> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isFile() === true && stats.size <= MAX_FILE_BYTES) {
    if (path === scope.root || scope.wanted(relativeTo(scope.root, path))) yield path;
  } else if (stats?.isDirectory() === true) {
    for (const child of await visibleChildren(path, query)) yield* filesBelow(child, query, scope);
  }
}

/** By bytes, so that pages fit together. A directory that cannot be read holds nothing to find. */
async function visibleChildren(directory: Buffer, query: SearchQuery): Promise<Buffer[]> {
  const children: Buffer[] = [];
  try {
    for await (const { name } of entriesOf(directory)) {
      if (name[0] === DOT && (query.hidden !== true || name.equals(Buffer.from('.git')))) continue;
      children.push(childOf(directory, name));
    }
  } catch (error) {
    if (!hasOsCode(error, 'ENOENT', 'EACCES', 'EPERM')) throw error;
  }
  return children.sort((a, b) => Buffer.compare(nameOf(a), nameOf(b)));
}

function relativeTo(root: Buffer, path: Buffer): string {
  return path.subarray(root.length).toString().replace(/^\//, '');
}

async function* matchesIn(path: Buffer, matcher: LineMatcher): AsyncGenerator<RawMatch> {
  const content = await readFile(path, {}).catch(() => null);
  if (content === null || content.subarray(0, BINARY_PROBE_BYTES).includes(0)) return;
  for (const { from, column, line } of matcher(content)) {
    const end = content.indexOf(NEWLINE, from);
    const text = content.subarray(from, end < 0 ? content.length : end);
    yield { path, line, column, text: text.at(-1) === 0x0d ? text.subarray(0, -1) : text };
  }
}
