import { LineSplitter } from '../text/line-splitter.js';
import { TerminalText } from '../text/terminal-text.js';
import type { Transcript } from './transcript.js';

export interface LineOptions {
  /** Keeps colours, progress bars, corrections and long lines as printed. */
  readonly raw: boolean;
  readonly maxLineChars: number;
}

export interface OutputRange extends LineOptions {
  readonly from: number;
  readonly to: number;
}

/** Consecutive lines. `complete` is false for a last line without a newline. */
export interface LineBatch {
  readonly lines: readonly string[];
  readonly complete: boolean;
}

/** The lines between two positions of a transcript, about one read per batch. */
export async function* outputLines(
  transcript: Transcript,
  range: OutputRange,
): AsyncGenerator<LineBatch, void> {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  const emit = (line: string): void => void lines.push(line);
  const splitter = range.raw
    ? new LineSplitter(emit)
    : new TerminalText({ maxLineChars: range.maxLineChars, emit });
  for await (const piece of transcript.read(range.from, range.to)) {
    if (piece.kind === 'lost') splitter.write(`${decoder.decode()}\n${lossNotice(piece.lostBytes)}\n`);
    else splitter.write(decoder.decode(piece.bytes, { stream: true }));
    if (lines.length === 0) continue;
    yield { lines, complete: true };
    lines = [];
  }
  splitter.write(decoder.decode());
  if (lines.length > 0) yield { lines, complete: true };
  const rest = splitter.end();
  if (rest !== null) yield { lines: [rest], complete: false };
}

/** Marks a gap in the output. */
export function lossNotice(lostBytes: number): string {
  return `[${lostBytes} bytes of output were lost here]`;
}
