import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NamedSegmentFiles } from '../../src/spool/named-segment-files.js';
import { SpoolQuota } from '../../src/spool/index.js';
import { bytesAt, markBefore } from '../../src/spool/segment-lines.js';
import { SegmentStore, type StoreOptions } from '../../src/spool/segment-store.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;
const LINE_BYTES = 16;
/** A chunk is a kibibyte of lines that tell their number. */
const CHUNK_LINES = KIB / LINE_BYTES;

function chunk(number: number): Uint8Array {
  const lines = Array.from({ length: CHUNK_LINES }, (_, line) =>
    String(number * CHUNK_LINES + line).padStart(LINE_BYTES - 1, '0'),
  );
  return Buffer.from(`${lines.join('\n')}\n`);
}

interface TestStore extends Disposable {
  readonly store: SegmentStore;
  readonly quota: SpoolQuota;
  readonly names: () => string[];
  /** Writes the chunk that follows. */
  write(): void;
}

type Bounds = Partial<Pick<StoreOptions, 'limitBytes' | 'headBytes' | 'segmentBytes'>>;

function open(bounds: Bounds = {}, quota = new SpoolQuota()): TestStore {
  const folder = new TestFolder();
  const files = new NamedSegmentFiles(folder.path);
  const owner = { expendableSince: () => null, dropSpool: () => undefined };
  const limits = { limitBytes: 16 * KIB, segmentBytes: 2 * KIB, ...bounds };
  const store = new SegmentStore({ files, owner, quota, ...limits });
  let written = 0;
  return {
    store,
    quota,
    names: () => readdirSync(folder.path),
    write() {
      const bytes = chunk(written);
      const place = { kind: 'stdout', seq: written + 1, offset: written * KIB, timeMs: written } as const;
      store.write([{ ...place, length: bytes.length, bytes }]);
      written += 1;
    },
    [Symbol.dispose]() {
      store.rest();
      folder[Symbol.dispose]();
    },
  };
}

type Range = readonly [number, number];
const NONE: Range = [0, 0];

/** Everything there is, as ranges of kibibytes. Fails if a byte is not the one that was written there. */
function ranges({ store }: TestStore): Range[] {
  const found: [number, number][] = [];
  for (let at = 0; ; ) {
    const piece = bytesAt(store.reader, at, KIB);
    if (!piece) return found;
    expect(Buffer.from(piece.bytes).equals(chunk(piece.offset / KIB))).toBe(true);
    const last = found.at(-1);
    at = piece.offset + piece.bytes.length;
    if (last && last[1] === piece.offset / KIB) last[1] = at / KIB;
    else found.push([piece.offset / KIB, at / KIB]);
  }
}

describe('output in segments', () => {
  test('beyond its limit the oldest goes, and its files with it', () => {
    using opened = open();
    for (let count = 0; count < 100; count += 1) opened.write();
    const [[first, end] = NONE, ...others] = ranges(opened);
    expect({ end, others }).toEqual({ end: 100, others: [] });
    expect(first).toBeGreaterThanOrEqual(100 - 16);
    expect(first).toBeLessThanOrEqual(100 - 13);
    expect(opened.names()).toHaveLength(2 * Math.ceil((100 - first) / 2));
    expect(opened.quota.usedBytes).toBeLessThanOrEqual(16 * KIB);
    expect(opened.store.keptBytes).toBe((100 - first) * KIB);
  });

  test('a head stays, and what is deleted is the oldest behind it', () => {
    using opened = open({ headBytes: 4 * KIB });
    for (let count = 0; count < 100; count += 1) opened.write();
    const [head, [first, end] = NONE, ...others] = ranges(opened);
    expect({ head, end, others }).toEqual({ head: [0, 4], end: 100, others: [] });
    expect(first).toBeLessThanOrEqual(100 - 9);
    expect(opened.store.counted).toEqual({ offset: 100 * KIB, newlines: 100 * CHUNK_LINES });
    // Lines behind the gap keep their numbers.
    const line = first * CHUNK_LINES + 1;
    expect(markBefore(opened.store.reader, { offset: first * KIB })).toEqual({
      offset: first * KIB,
      newlines: line - 1,
    });
  });

  test('a quota smaller than the head leaves a part of it and the end', () => {
    const quota = new SpoolQuota(2 * KIB * KIB);
    using opened = open(
      { limitBytes: 64 * KIB * KIB, headBytes: 32 * KIB * KIB, segmentBytes: 64 * KIB },
      quota,
    );
    for (let count = 0; count < 5000; count += 1) opened.write();
    const [[start, headEnd] = NONE, [first, end] = NONE, ...others] = ranges(opened);
    expect({ start, end, others }).toEqual({ start: 0, end: 5000, others: [] });
    expect(headEnd).toBeGreaterThan(400);
    expect(headEnd).toBeLessThan(600);
    expect(5000 - first).toBeGreaterThan(1300);
    expect(quota.usedBytes).toBeLessThanOrEqual(2 * KIB * KIB);
  });

  test('what has gone from the quota comes back, and the store grows again', () => {
    const quota = new SpoolQuota(2 * KIB * KIB);
    const other = { expendableSince: () => null, dropSpool: () => undefined };
    quota.grow(other, KIB * KIB);
    using opened = open({ limitBytes: 64 * KIB * KIB, segmentBytes: 64 * KIB }, quota);
    for (let count = 0; count < 2000; count += 1) opened.write();
    expect(opened.store.keptBytes).toBeLessThan(KIB * KIB);
    quota.release(other);
    for (let count = 0; count < 2000; count += 1) opened.write();
    expect(opened.store.keptBytes).toBeGreaterThan(1.8 * KIB * KIB);
  });

  test('something is kept however narrow the bounds are', () => {
    using opened = open({ limitBytes: 1, headBytes: 1 });
    for (let count = 0; count < 10; count += 1) opened.write();
    expect(ranges(opened)).toEqual([[9, 10]]);
    expect(opened.names()).toHaveLength(2);
  });
});
