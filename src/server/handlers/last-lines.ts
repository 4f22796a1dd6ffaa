import { positionAfter, type ProcessLog } from '../../contract/index.js';

const NEWLINE = 0x0a;
/** Lines are looked for within this much output. */
const LOOKED_AT_BYTES = 1024 * 1024;

/** A position that is followed by this many lines, and perhaps some more: chunks are not cut. */
export function positionBeforeLines(log: ProcessLog, count: number): number {
  const begin = log.positionBeforeLast(LOOKED_AT_BYTES);
  const ends: number[] = [];
  let [position, endsOpen] = [begin, false];
  for (let event = log.next(position); event; event = log.next(position)) {
    if (event.type === 'output') {
      for (let at = event.bytes.indexOf(NEWLINE); at >= 0; at = event.bytes.indexOf(NEWLINE, at + 1))
        ends.push(at === event.bytes.length - 1 ? event.seq : position);
      endsOpen = event.bytes.at(-1) !== NEWLINE;
    }
    position = positionAfter(event);
  }
  // Where the line before the first one wanted ends.
  return count === 0 ? position : (ends.at(-(count + (endsOpen ? 0 : 1))) ?? begin);
}
