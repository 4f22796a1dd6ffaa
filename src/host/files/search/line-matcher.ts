import { createContext, Script } from 'node:vm';
import type { SearchQuery } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';

const NEWLINE = 0x0a;

/** Only this much of a line is tried: beyond it lines are data, and expressions get slow. */
const MAX_TRIED_CHARACTERS = 64 * 1024;

/** Lines tried in one go, and how long that may take: some expressions need ages on harmless-looking text. */
const LINES_PER_ROUND = 2000;
const ROUND_TIMEOUT_MS = 200;

/** A matching line of a file. */
export interface LineMatch {
  /** Where the line starts, in bytes. */
  readonly from: number;
  /** Counts from 1. */
  readonly line: number;
  /** Where the first match starts, in bytes from 1. */
  readonly column: number;
}

export type LineMatcher = (content: Buffer) => Iterable<LineMatch>;

export function createLineMatcher(query: SearchQuery): LineMatcher {
  if (query.regex !== true && query.caseSensitive !== false) {
    const needle = Buffer.from(query.pattern);
    return (content) => literalMatches(content, needle);
  }
  const source = query.regex === true ? query.pattern : query.pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const findAll = createFinder(source, query.caseSensitive === false ? 'iu' : 'u');
  return (content) => regexMatches(content, findAll);
}

function* literalMatches(content: Buffer, needle: Buffer): Generator<LineMatch> {
  let line = 1;
  let counted = 0;
  for (let at = content.indexOf(needle); at >= 0; ) {
    const from = at === 0 ? 0 : content.lastIndexOf(NEWLINE, at - 1) + 1;
    line += newlinesBetween(content, counted, from);
    counted = from;
    yield { from, line, column: at - from + 1 };
    const next = content.indexOf(NEWLINE, at);
    at = next < 0 ? -1 : content.indexOf(needle, next + 1);
  }
}

function newlinesBetween(content: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = content.indexOf(NEWLINE, from); at >= 0 && at < to; at = content.indexOf(NEWLINE, at + 1))
    count++;
  return count;
}

/** For each line, the character where the first match starts, or -1. */
type Finder = (lines: readonly string[]) => readonly number[];

/** Runs in a context of its own, which is the only way to stop an expression that does not come to an end. */
function createFinder(source: string, flags: string): Finder {
  let regex: RegExp;
  try {
    regex = new RegExp(source, flags);
  } catch (error) {
    throw new ExecError('invalidParams', 'The pattern is not a valid regular expression.', { cause: error });
  }
  const context = createContext({ regex, lines: [] });
  const script = new Script('lines.map((line) => line.search(regex))');
  return (lines) => {
    context['lines'] = lines;
    try {
      return script.runInContext(context, { timeout: ROUND_TIMEOUT_MS }) as number[];
    } catch (error) {
      throw new ExecError('invalidParams', 'The pattern takes too long to match.', { cause: error });
    }
  };
}

function* regexMatches(content: Buffer, findAll: Finder): Generator<LineMatch> {
  let firstLine = 1;
  for (let from = 0; from < content.length; ) {
    const round = takeLines(content, from);
    const columns = findAll(round.texts);
    for (const [index, character] of columns.entries()) {
      const start = round.starts[index] ?? 0;
      const before = round.texts[index]?.slice(0, Math.max(character, 0)) ?? '';
      if (character >= 0)
        yield { from: start, line: firstLine + index, column: Buffer.byteLength(before) + 1 };
    }
    firstLine += round.texts.length;
    from = round.end;
  }
}

function takeLines(content: Buffer, from: number): { texts: string[]; starts: number[]; end: number } {
  const texts: string[] = [];
  const starts: number[] = [];
  let start = from;
  while (start < content.length && texts.length < LINES_PER_ROUND) {
    const newline = content.indexOf(NEWLINE, start);
    const end = newline < 0 ? content.length : newline;
    starts.push(start);
    texts.push(
      content.toString('utf8', start, Math.min(end, start + MAX_TRIED_CHARACTERS)).replace(/\r$/, ''),
    );
    start = end + 1;
  }
  return { texts, starts, end: start };
}
