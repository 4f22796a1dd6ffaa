import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ENTRY_BYTES, isIntact, readEntry } from './index-entry.js';
import { type Segment, segmentFile, segmentNumber } from './segment.js';

/**
 * The segments in a directory whose server may have been killed. Whatever was not written completely at the end is left
 * out: a part of an entry, an entry without its output, output without an entry.
 */
export function storedSegments(directory: string): Segment[] {
  const numbers = readdirSync(directory)
    .flatMap((name) => segmentNumber(name) ?? [])
    .sort((a, b) => a - b);
  const segments: Segment[] = [];
  for (const number of numbers) {
    const segment = storedSegment(directory, number);
    if (!segment) continue;
    const before = segments.at(-1);
    // Positions must continue, or what is found by position would be something else.
    if (before && before.first.offset + before.dataBytes !== segment.first.offset) segments.length = 0;
    segments.push(segment);
  }
  return segments;
}

function storedSegment(directory: string, number: number): Segment | null {
  const opened: number[] = [];
  try {
    const [index = -1, data = -1] = (['index', 'data'] as const).map((kind) => {
      const path = join(directory, segmentFile(number, kind));
      const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
      opened.push(fd);
      return fd;
    });
    return intactPart(number, { index, data });
  } catch {
    return null;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function intactPart(number: number, files: { index: number; data: number }): Segment | null {
  const count = Math.floor(fstatSync(files.index).size / ENTRY_BYTES);
  const dataSize = fstatSync(files.data).size;
  if (count === 0) return null;
  const first = readEntry(readAt(files.index, 0, ENTRY_BYTES), 0);
  for (let entries = count; entries > 0; entries -= 1) {
    const slot = readAt(files.index, (entries - 1) * ENTRY_BYTES, ENTRY_BYTES);
    const { offset, length } = readEntry(slot, 0);
    const start = offset - first.offset;
    if (!(start >= 0 && start + length <= dataSize)) continue;
    if (!isIntact(slot, readAt(files.data, start, length))) continue;
    return { number, first, entries, dataBytes: start + length };
  }
  return null;
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const count = readSync(fd, bytes, done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return bytes;
}
