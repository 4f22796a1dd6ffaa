import { ExecError } from '../protocol/errors.js';

/** Longer lines are refused. Everything a program prints in a second fits. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

export interface NumberedLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a file, one at a time. Throws if one is too long, after reading no more of it than the limit. */
export async function* fileLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const take = (): string => {
    const text = new TextDecoder().decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    parts = [];
    length = 0;
    return text;
  };
  for await (const piece of bytes) {
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(LINE_FEED, from);
      const part = piece.subarray(from, end === -1 ? piece.length : end);
      parts.push(part);
      length += part.length;
      if (length > MAX_LINE_BYTES) throw damaged(number, `is longer than ${MAX_LINE_BYTES} bytes`);
      if (end === -1) break;
      yield { number, text: take() };
      number += 1;
      from = end + 1;
    }
  }
  if (length > 0) yield { number, text: take() };
}

/** An error that says what is wrong with a line. */
export function damaged(line: number, what: string): ExecError {
  return new ExecError('damagedRecording', `The recording cannot be played: line ${line} ${what}.`);
}
