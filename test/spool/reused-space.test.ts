import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NamedSegmentFiles } from '../../src/spool/named-segment-files.js';
import { SpoolQuota } from '../../src/spool/index.js';
import { bytesAt } from '../../src/spool/segment-lines.js';
import { SegmentReader } from '../../src/spool/segment-reader.js';
import { SegmentStore } from '../../src/spool/segment-store.js';
import { storedSegments } from '../../src/spool/stored-segments.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;
const LIMIT = 64 * KIB;
const SEGMENT = 16 * KIB;

function chunk(number: number): Buffer {
  return Buffer.alloc(KIB, `${number} `);
}

function open(folder: TestFolder) {
  const owner = { expendableSince: () => null, dropSpool: () => undefined };
  const files = new NamedSegmentFiles(folder.path);
  const bounds = { limitBytes: LIMIT, segmentBytes: SEGMENT };
  const store = new SegmentStore({ files, owner, quota: new SpoolQuota(), ...bounds });
  let written = 0;
  const write = (): void => {
    const bytes = chunk(written);
    const place = { kind: 'stdout', seq: written + 1, offset: written * KIB, timeMs: 0 } as const;
    store.write([{ ...place, length: bytes.length, bytes }]);
    written += 1;
  };
  return { store, write };
}

function dataFiles(directory: string): { name: string; size: number; inode: number }[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.data'))
    .map((name) => ({ name, stats: statSync(join(directory, name)) }))
    .map(({ name, stats }) => ({ name, size: stats.size, inode: stats.ino }));
}

function sizeOnDisk(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

/** The numbers of all chunks that can be read. Fails if one is not what was written. */
function readable(reader: SegmentReader): number[] {
  const numbers: number[] = [];
  for (let at = 0; ; ) {
    const found = bytesAt(reader, at, KIB);
    if (!found) return numbers;
    const number = found.offset / KIB;
    expect(chunk(number).equals(Buffer.from(found.bytes))).toBe(true);
    numbers.push(number);
    at = found.offset + KIB;
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

describe('space of deleted segments', () => {
  test('is written over by the next ones, and the limit holds at every moment', () => {
    using folder = new TestFolder();
    const { store, write } = open(folder);
    const inodes = new Set<number>();
    for (let count = 1; count <= 500; count += 1) {
      write();
      // A segment ends with the chunk that fills it.
      expect(sizeOnDisk(folder.path)).toBeLessThanOrEqual(LIMIT + KIB);
      for (const { inode } of dataFiles(folder.path)) inodes.add(inode);
      const numbers = readable(store.reader);
      expect(numbers).toEqual(range(count - numbers.length, count));
      expect(numbers.length).toBeGreaterThanOrEqual(Math.min(count, (LIMIT - 2 * SEGMENT) / KIB));
    }
    expect(inodes.size).toBeLessThanOrEqual(LIMIT / SEGMENT);
    store.rest();
  });

  test('has no older output left in it once the files are closed', () => {
    using folder = new TestFolder();
    const { store, write } = open(folder);
    for (let count = 0; count < 101; count += 1) write();
    store.rest();
    const total = dataFiles(folder.path).reduce((sum, { size }) => sum + size, 0);
    expect(total).toBe(store.keptBytes);
    for (let count = 0; count < 50; count += 1) {
      write();
      store.rest();
    }
    const numbers = readable(store.reader);
    expect(numbers).toEqual(range(151 - numbers.length, 151));
    store.rest();
  });

  test('shows no older output to the server that comes after one that was killed', () => {
    using folder = new TestFolder();
    using copies = new TestFolder();
    const { store, write } = open(folder);
    for (let count = 0; count < LIMIT / KIB; count += 1) write();
    for (let count = 0; count < (4 * SEGMENT) / KIB; count += 1) {
      write();
      // As the disk is after each write: nothing was closed.
      const copy = copies.file(String(count));
      cpSync(folder.path, copy, { recursive: true });
      const segments = storedSegments(copy);
      const reader = new SegmentReader(new NamedSegmentFiles(copy), () => segments);
      expect(readable(reader)).toEqual(readable(store.reader));
      reader.rest();
    }
    store.rest();
  });
});
