import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { SearchQuery } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { trustedProgram } from '../../kernel/trusted-path.js';
import { asBuffer } from '../../kernel/host-path.js';
import type { RawMatch } from './search.js';
import { MAX_FILE_BYTES, MAX_LINE_BYTES } from './search-limits.js';

/** ripgrep itself cuts lines here; one more byte than we show tells that there was more. */
const CUT_COLUMNS = MAX_LINE_BYTES + 1;

/** What is kept of the program's complaints. */
const MAX_COMPLAINT_BYTES = 8192;

/** Status of a run that found something, or nothing; anything else is trouble. */
const ORDINARY_STATUS = new Set([0, 1]);

export async function* ripgrepMatches(root: Buffer, query: SearchQuery): AsyncGenerator<RawMatch> {
  const program = trustedProgram('rg');
  if (program === null) throw new ExecError('internalError', 'ripgrep is not there any more.');
  const child = spawn(program, argumentsFor(root, query), { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  const stop = (): void => void child.kill('SIGKILL');
  query.signal?.addEventListener('abort', stop, { once: true });
  const complaint = collectComplaint(child.stderr);
  const closed = once(child, 'close');
  closed.catch(() => undefined);
  try {
    for await (const record of lines(child.stdout)) {
      const match = parseRecord(record);
      if (match !== null) yield match;
    }
    await closed;
    if (query.signal?.aborted !== true) requireOrdinaryEnd(child.exitCode, complaint());
  } finally {
    query.signal?.removeEventListener('abort', stop);
    await end(child, closed);
  }
}

function argumentsFor(root: Buffer, query: SearchQuery): string[] {
  return [
    '--no-config',
    '--color=never',
    '--no-heading',
    '--with-filename',
    '--null',
    '--line-number',
    '--column',
    '--no-messages',
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
    root.toString(),
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

/** Complete lines; the program cuts them, so that none is long. */
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

function collectComplaint(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < MAX_COMPLAINT_BYTES) text += chunk.toString();
  });
  return () => text.slice(0, MAX_COMPLAINT_BYTES);
}

/** Unreadable files are not worth a failure; a pattern or glob that does not parse is. */
function requireOrdinaryEnd(status: number | null, complaint: string): void {
  if (status === null) throw new ExecError('ioFailed', 'The search program was killed.');
  if (ORDINARY_STATUS.has(status) || complaint === '') return;
  throw new ExecError('invalidParams', `The pattern or a glob is not valid: ${complaint.trim()}`);
}

async function end(
  child: ChildProcessByStdio<null, Readable, Readable>,
  closed: Promise<unknown>,
): Promise<void> {
  child.kill('SIGKILL');
  child.stdout.destroy();
  await closed.catch(() => undefined);
}
