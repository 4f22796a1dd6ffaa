import type { RemoteEnvironment } from '../../client/index.js';
import type { OutputLine, OutputSearch } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { HarmlessText } from '../terminal/harmless-text.js';
import { write } from '../terminal/print-output.js';
import { findKept } from './kept.js';

export interface GrepFlags {
  readonly grep: string;
  readonly ignoreCase?: boolean;
  readonly fixedStrings?: boolean;
  readonly lineNumber?: boolean;
  readonly since?: number;
  readonly follow?: boolean;
  readonly tail?: number;
  readonly raw?: boolean;
}

/** How long the server waits for the next match before it says that there is none yet. */
const WAIT_MS = 20_000;
const PAGE_MATCHES = 1000;
/** The most a server returns of a line. */
const MAX_LINE_BYTES = 64 * 1024;

/** Prints the lines of a process that match. The server searches, so that only those travel. */
export async function printMatches(server: RemoteEnvironment, id: string, flags: GrepFlags): Promise<void> {
  const newest: OutputLine[] = [];
  const { tail = Number.POSITIVE_INFINITY } = flags;
  let isPast = true;
  for await (const { matches, isAtEnd } of findAll(server, id, flags)) {
    for (const line of matches) {
      if (!isPast || tail === Number.POSITIVE_INFINITY) await printLine(line, flags);
      else newest.push(line);
    }
    if (isPast && newest.length > tail) newest.splice(0, newest.length - tail);
    if (!isPast || !isAtEnd) continue;
    isPast = false;
    for (const line of newest) await printLine(line, flags);
  }
}

async function* findAll(
  server: RemoteEnvironment,
  id: string,
  flags: GrepFlags,
): AsyncGenerator<{ matches: readonly OutputLine[]; isAtEnd: boolean }, void> {
  const search = await searchFor(server, id, flags);
  let page = await search({});
  for (;;) {
    for (const { lostBytes } of page.gaps) complainOfLoss(lostBytes);
    yield { matches: page.matches, isAtEnd: page.atEnd };
    if (page.atEnd && (page.closed || !flags.follow)) {
      if (page.failure !== null) process.stderr.write(`execwire: ${page.failure}\n`);
      return;
    }
    const { cursor } = page;
    page = await search(page.atEnd ? { cursor, waitMs: WAIT_MS } : { cursor });
  }
}

/** By the beginning of an id, or by the full id if the server has forgotten the process. */
async function searchFor(
  server: RemoteEnvironment,
  id: string,
  { grep, since, ...flags }: GrepFlags,
): Promise<(more: Partial<OutputSearch>) => ReturnType<RemoteEnvironment['searchOutput']>> {
  const request: OutputSearch = {
    pattern: grep,
    regex: !flags.fixedStrings,
    caseSensitive: !flags.ignoreCase,
    maxMatches: PAGE_MATCHES,
    maxLineBytes: MAX_LINE_BYTES,
    ...(since === undefined ? {} : { sinceMs: since }),
    // An unfinished line is left until it is finished.
    ...(flags.follow ? { waitMs: 1 } : {}),
  };
  const found = await server.kept().then((rows) => {
    try {
      return { processId: findKept(rows, id).processId };
    } catch (error) {
      return { processId: id, error };
    }
  });
  return async (more) => {
    try {
      return await server.searchOutput(found.processId, { ...request, ...more });
    } catch (error) {
      throw found.error !== undefined && isExecError(error, 'processNotFound') ? found.error : error;
    }
  };
}

async function printLine(
  { line, stream, bytes, cut }: OutputLine,
  { raw, lineNumber }: GrepFlags,
): Promise<void> {
  const target = stream === 'stderr' ? process.stderr : process.stdout;
  const number = lineNumber ? `${line}:` : '';
  await write(target, raw ? Buffer.concat([Buffer.from(number), bytes, NEWLINE]) : number + shown(bytes));
  if (cut) process.stderr.write(`execwire: line ${line} is longer than this\n`);
}

const NEWLINE = Buffer.from('\n');

function shown(bytes: Uint8Array): string {
  const harmless = new HarmlessText();
  return `${harmless.take(bytes)}${harmless.end()}\n`;
}

export function complainOfLoss(bytes: number): void {
  process.stderr.write(`execwire: ${bytes} bytes of output were lost here\n`);
}
