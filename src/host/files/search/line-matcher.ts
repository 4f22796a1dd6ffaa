import type { SearchQuery } from '../../../contract/index.js';
import type { TimeSlice } from '../../kernel/index.js';
import { createFinder, type Finder } from './line-finder.js';

const NEWLINE = 0x0a;

/** Bytes examined at a time, up to the end of a line. */
const ROUND_BYTES = 256 * 1024;

/** Only this much of a line is searched: longer lines are data, and expressions get slow. */
const MAX_TRIED_CHARACTERS = 64 * 1024;

/** Lines tried at a time, and their total size. */
const LINES_PER_ROUND = 2000;
const LINE_BYTES_PER_ROUND = 64 * 1024;

/** A matching line of a file. */
export interface LineMatch {
  /** Where the line starts, in bytes. */
  readonly from: number;
  /** Counts from 1. */
  readonly line: number;
  /** Where the first match starts, in bytes, counted from 1. */
  readonly column: number;
}

/** Finds the matching lines of a content. Yields between rounds, since a file may be large. */
export type LineMatcher = (content: Buffer, slice: TimeSlice) => AsyncGenerator<LineMatch>;

export function createLineMatcher(query: SearchQuery): LineMatcher {
  if (query.regex !== true && query.caseSensitive !== false) {
    const needle = Buffer.from(query.pattern);
    return (content, slice) => literalMatches(content, needle, slice);
  }
  const source = query.regex === true ? query.pattern : query.pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const find = createFinder(source, query.caseSensitive === false ? 'iu' : 'u');
  return (content, slice) => regexMatches(content, find, slice);
}

async function* literalMatches(content: Buffer, needle: Buffer, slice: TimeSlice): AsyncGenerator<LineMatch> {
  let line = 1;
  for (let start = 0; start < content.length; ) {
    const end = lineEndAfter(content, start + ROUND_BYTES);
    const round = content.subarray(start, end);
    let counted = 0;
    for (let at = round.indexOf(needle); at >= 0; ) {
      const from = at === 0 ? 0 : round.lastIndexOf(NEWLINE, at - 1) + 1;
      line += newlinesBetween(round, counted, from);
      counted = from;
      yield { from: start + from, line, column: at - from + 1 };
      const next = round.indexOf(NEWLINE, at);
      at = next < 0 ? -1 : round.indexOf(needle, next + 1);
    }
    line += newlinesBetween(round, counted, round.length);
    start = end;
    await slice.yieldIfOver();
  }
}

/** The end of the line that contains `at`. */
function lineEndAfter(content: Buffer, at: number): number {
  const newline = at >= content.length ? -1 : content.indexOf(NEWLINE, at);
  return newline < 0 ? content.length : newline + 1;
}

function newlinesBetween(content: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (content[at] === NEWLINE) count += 1;
  return count;
}

async function* regexMatches(content: Buffer, find: Finder, slice: TimeSlice): AsyncGenerator<LineMatch> {
  let firstLine = 1;
  for (let from = 0; from < content.length; ) {
    const round = takeLines(content, from);
    const columns = await find(round.texts, slice);
    for (const [index, character] of columns.entries()) {
      const start = round.starts[index] ?? 0;
      const before = round.texts[index]?.slice(0, Math.max(character, 0)) ?? '';
      if (character >= 0)
        yield { from: start, line: firstLine + index, column: Buffer.byteLength(before) + 1 };
    }
    firstLine += round.texts.length;
    from = round.end;
    await slice.yieldIfOver();
  }
}

function takeLines(content: Buffer, from: number): { texts: string[]; starts: number[]; end: number } {
  const texts: string[] = [];
  const starts: number[] = [];
  const enough = from + LINE_BYTES_PER_ROUND;
  let start = from;
  while (start < content.length && start < enough && texts.length < LINES_PER_ROUND) {
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
