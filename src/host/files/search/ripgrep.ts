import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { SearchQuery } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { asBuffer, childOf, nameOf, parentOf, trustedProgram } from '../../kernel/index.js';
import { hasOsCode, osError } from '../access/os-error.js';
import { RipgrepErrors } from './ripgrep-errors.js';
import { scanMatches, scanPart } from './scan.js';
import type { RawMatch } from './search.js';
import { MAX_FILE_BYTES, MAX_LINE_BYTES } from './search-limits.js';

/** ripgrep itself truncates lines here; one byte more than we show tells that there was more. */
const CUT_COLUMNS = MAX_LINE_BYTES + 1;

const PATH_START = Buffer.from('./');
const NEWLINE = Buffer.from('\n');

/** A path has at most this many bytes, and so no more lines. */
const MAX_LINES_IN_PATH = 4096;

/** Exit status of a run with or without matches; anything else is an error. */
const ORDINARY_STATUS = new Set([0, 1]);

/** Searches with ripgrep; what is too deep for its paths is scanned by us, at the end. */
export async function* ripgrepMatches(root: Buffer, query: SearchQuery): AsyncGenerator<RawMatch> {
  const program = trustedProgram('rg');
  const place = await placeOf(root);
  const child =
    program === null ? null : await start(program, argumentsFor(place.target, query), place.directory);
  if (child === null) {
    yield* scanMatches(root, query);
    return;
  }
  const errors = new RipgrepErrors(child.stderr);
  yield* ownMatches(child, place, query);
  if (query.signal?.aborted === true) return;
  requireOrdinaryEnd(child.exitCode, errors);
  for (const part of errors.tooDeep) yield* scanPart(root, part, query);
}

interface Place {
  /** ripgrep's working directory, which anchors globs with a slash. */
  readonly directory: Buffer;
  /** What it searches, relative to that directory. */
  readonly target: string;
}

async function placeOf(root: Buffer): Promise<Place> {
  const isDirectory = (await stat(root)).isDirectory();
  return isDirectory
    ? { directory: root, target: './' }
    : { directory: parentOf(root), target: `./${nameOf(root).toString()}` };
}

type Ripgrep = ChildProcessByStdio<null, Readable, Readable>;

/** Null if the program cannot be run, or the directory cannot be entered any more. */
async function start(program: string, args: string[], directory: Buffer): Promise<Ripgrep | null> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: directory.toString() });
  // Failures arrive as an event that would end the server without a listener; the pipes are missing then.
  child.on('error', () => undefined);
  try {
    await once(child, 'spawn');
    return child;
  } catch (error) {
    if (hasOsCode(error, 'ENOENT', 'EACCES', 'ENOTDIR')) return null;
    throw error;
  }
}

async function* ownMatches(child: Ripgrep, place: Place, query: SearchQuery): AsyncGenerator<RawMatch> {
  const stop = (): void => void child.kill('SIGKILL');
  query.signal?.addEventListener('abort', stop, { once: true });
  const closed = once(child, 'close');
  closed.catch(() => undefined);
  try {
    for await (const record of records(child.stdout)) {
      const match = parseRecord(record);
      if (match !== null) yield { ...match, path: childOf(place.directory, match.path.subarray(2)) };
    }
    await closed;
  } finally {
    query.signal?.removeEventListener('abort', stop);
    await end(child, closed);
  }
}

function argumentsFor(target: string, query: SearchQuery): string[] {
  return [
    '--no-config',
    '--color=never',
    '--no-heading',
    '--with-filename',
    '--null',
    '--line-number',
    '--column',
    '--no-ignore-messages',
    '--sort=path',
    `--max-columns=${CUT_COLUMNS}`,
    '--max-columns-preview',
    `--max-filesize=${MAX_FILE_BYTES}`,
    ...(query.regex === true ? [] : ['--fixed-strings']),
    ...(query.caseSensitive === false ? ['--ignore-case'] : ['--case-sensitive']),
    ...(query.hidden === true ? ['--hidden', '--glob=!.git'] : []),
    ...(query.globs ?? []).map((glob) => `--glob=${glob}`),
    `--regexp=${query.pattern}`,
    '--',
    target,
  ];
}

/** `path NUL line : column : text`. */
function parseRecord(record: Buffer): RawMatch | null {
  const pathEnd = record.indexOf(0);
  const lineEnd = record.indexOf(':', pathEnd);
  const columnEnd = record.indexOf(':', lineEnd + 1);
  if (pathEnd < 0 || lineEnd < 0 || columnEnd < 0) return null;
  return {
    path: record.subarray(0, pathEnd),
    line: Number(record.toString('latin1', pathEnd + 1, lineEnd)),
    column: Number(record.toString('latin1', lineEnd + 1, columnEnd)),
    text: withoutReturn(record.subarray(columnEnd + 1)),
  };
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line;
}

/** Lines, joined where a path contains a line break: every path starts with `./`. */
async function* records(stream: Readable): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const line of lines(stream)) {
    if (line.subarray(0, 2).equals(PATH_START)) begun = [];
    begun.push(line);
    if (line.includes(0)) {
      const record = joinLines(begun);
      if (record.subarray(0, 2).equals(PATH_START)) yield record;
      begun = [];
    } else if (begun.length > MAX_LINES_IN_PATH) begun = [];
  }
}

function joinLines(parts: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0), ...rest] = parts;
  return rest.reduce((joined, part) => Buffer.concat([joined, NEWLINE, part]), first);
}

/** Complete lines; ripgrep truncates them, so none is long. */
async function* lines(stream: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, asBuffer(chunk as Uint8Array)]);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      yield rest.subarray(0, end);
      rest = rest.subarray(end + 1);
    }
  }
}

/** Unreadable files do not fail the search; a pattern or glob that does not parse does. */
function requireOrdinaryEnd(status: number | null, errors: RipgrepErrors): void {
  if (status === null) throw new ExecError('ioFailed', 'The search program was killed.');
  if (errors.ranOut !== null) throw osError(errors.ranOut);
  if (errors.isTooMuch)
    throw new ExecError(
      'ioFailed',
      'Too much of the tree is too deep to be searched. Search a directory in it.',
    );
  if (ORDINARY_STATUS.has(status) || errors.text === '') return;
  throw new ExecError('invalidParams', `The pattern or a glob is not valid: ${errors.text}`);
}

async function end(child: Ripgrep, closed: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  child.stdout.destroy();
  await closed.catch(() => undefined);
}
