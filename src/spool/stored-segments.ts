import { fstatSync, readdirSync, readSync } from 'node:fs';
import { ENTRY_BYTES, isIntact, readEntry } from './index-entry.js';
import { NamedSegmentFiles, segmentNumber } from './named-segment-files.js';
import type { Segment } from './segment.js';
import type { OpenPart } from './segment-files.js';

/**
 * The segments in a directory whose server may have been killed. Incomplete writes at the end are left out: a partial entry,
 * an entry without its output, output without an entry.
 */
export function storedSegments(directory: string): Segment[] {
  const numbers = readdirSync(directory)
    .flatMap((name) => segmentNumber(name) ?? [])
    .sort((a, b) => a - b);
  const files = new NamedSegmentFiles(directory);
  const segments: Segment[] = [];
  for (const number of numbers) {
    const segment = storedSegment(files, number);
    if (!segment) continue;
    const before = segments.at(-1);
    // Positions must be contiguous, or a position would lead to the wrong output.
    if (before && before.first.offset + before.dataBytes !== segment.first.offset) segments.length = 0;
    segments.push(segment);
  }
  return segments;
}

function storedSegment(files: NamedSegmentFiles, number: number): Segment | null {
  const opened: OpenPart[] = [];
  try {
    const index = files.openToRead({ number }, 'index');
    opened.push(index);
    const data = files.openToRead({ number }, 'data');
    opened.push(data);
    return intactPart(number, { index: index.descriptor, data: data.descriptor });
  } catch {
    return null;
  } finally {
    for (const part of opened) files.close(part);
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
