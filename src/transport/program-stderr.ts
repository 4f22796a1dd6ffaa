import type { Readable } from 'node:stream';

/** Longer lines are passed on in pieces of this size. */
const MAX_STDERR_LINE_CHARS = 8 * 1024;

/**
 * Passes a stream on line by line. The stream is always read, because a program that logs must not block on a full
 * pipe.
 */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  const handOn = (line: string): void => {
    let left = line;
    for (; left.length > MAX_STDERR_LINE_CHARS; left = left.slice(MAX_STDERR_LINE_CHARS)) {
      onLine(left.slice(0, MAX_STDERR_LINE_CHARS));
    }
    onLine(left);
  };
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) handOn(line);
    for (; rest.length > MAX_STDERR_LINE_CHARS; rest = rest.slice(MAX_STDERR_LINE_CHARS)) {
      onLine(rest.slice(0, MAX_STDERR_LINE_CHARS));
    }
  });
  stream.on('end', () => {
    if (rest !== '') handOn(rest);
  });
  stream.on('error', () => undefined);
}
