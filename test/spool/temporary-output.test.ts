import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MAX_WRITE_BYTES, SpoolQuota, TemporaryOutput } from '../../src/spool/index.js';
import { NamelessSegmentFiles } from '../../src/spool/nameless-segment-files.js';
import type { Segment } from '../../src/spool/segment.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;
const MIB = KIB * KIB;
const WRITE_BYTES = 256 * KIB;

/** Bytes that tell their position. */
function patterned(from: number, length: number): Buffer {
  const phase = from % PERIOD.length;
  return Buffer.alloc(phase + length, PERIOD).subarray(phase);
}
const PERIOD = Uint8Array.from({ length: 251 }, (_, index) => (index * 31) & 0xff);

function open(parent: string, limits: { headBytes: number; tailBytes: number }): TemporaryOutput {
  const owner = { expendableSince: () => null, dropSpool: () => undefined };
  return new TemporaryOutput({ parent, owner, quota: new SpoolQuota(), ...limits });
}

function fill(
  output: TemporaryOutput,
  { from = 0, to, chunkBytes = 64 * KIB }: { from?: number; to: number; chunkBytes?: number },
): void {
  for (let at = from; at < to; at += WRITE_BYTES) {
    const count = WRITE_BYTES / chunkBytes;
    output.write(Array.from({ length: count }, (_, index) => patterned(at + index * chunkBytes, chunkBytes)));
  }
}

/** Everything there is, as ranges. Fails if a byte is not the one that was written there. */
function ranges(output: TemporaryOutput): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; ; ) {
    const piece = output.bytesAt(at, 100_000);
    if (!piece) return found;
    expect(patterned(piece.offset, piece.bytes.length).equals(piece.bytes)).toBe(true);
    const last = found.at(-1);
    at = piece.offset + piece.bytes.length;
    if (last && last[1] === piece.offset) last[1] = at;
    else found.push([piece.offset, at]);
  }
}

/** What this process has open in a directory, with or without a name. */
function openFiles(folder: TestFolder): string[] {
  return readdirSync('/proc/self/fd')
    .map((descriptor) => `/proc/self/fd/${descriptor}`)
    .filter((path) => {
      try {
        return readlinkSync(path).startsWith(`${folder.path}/`);
      } catch {
        return false;
      }
    });
}

describe('output for as long as we run', () => {
  test.each([64 * KIB, 1 * KIB])(
    'keeps both ends of output that came in chunks of %i bytes',
    (chunkBytes) => {
      using folder = new TestFolder();
      const output = open(folder.path, { headBytes: MIB, tailBytes: 2 * MIB });
      fill(output, { to: 3 * MIB, chunkBytes });
      expect(ranges(output)).toEqual([[0, 3 * MIB]]);
      fill(output, { from: 3 * MIB, to: 40 * MIB, chunkBytes });
      const found = ranges(output);
      expect(found).toEqual([
        [0, expect.toSatisfy((end: number) => end >= MIB && end <= MIB + WRITE_BYTES)],
        [expect.toSatisfy((start: number) => start <= 38 * MIB), 40 * MIB],
      ]);
      expect(output.keptBytes).toBe(found.reduce((sum, [from, to]) => sum + to - from, 0));
      output.release();
    },
  );

  test.runIf(process.platform === 'linux')(
    'takes one descriptor, no name, and no more room than it may',
    () => {
      using folder = new TestFolder();
      const output = open(folder.path, { headBytes: MIB, tailBytes: 2 * MIB });
      expect(openFiles(folder)).toEqual([]);
      fill(output, { to: 40 * MIB });
      const [file = '', ...others] = openFiles(folder);
      expect({ others, names: readdirSync(folder.path) }).toEqual({ others: [], names: [] });
      // Slots of deleted segments are used again.
      expect(statSync(file).blocks * 512).toBeLessThan(4 * MIB);
      output.release();
      expect(openFiles(folder)).toEqual([]);
      expect(output.bytesAt(0, 1)).toBeUndefined();
      expect(output.keptBytes).toBe(0);
      output.release();
    },
  );

  test('one write has a limit, and what exceeds it does not spoil what is there', () => {
    using folder = new TestFolder();
    const output = open(folder.path, { headBytes: MIB, tailBytes: MIB });
    output.write([patterned(0, MAX_WRITE_BYTES)]);
    expect(() => output.write([patterned(MAX_WRITE_BYTES, MAX_WRITE_BYTES + 1)])).toThrow('room');
    expect(ranges(output)).toEqual([[0, MAX_WRITE_BYTES]]);
    output.release();
  });

  test('deleted segments cannot be read, and their slots are used again before the file grows', () => {
    using folder = new TestFolder();
    const files = new NamelessSegmentFiles(folder.path, { data: 100, index: 10 });
    const first = { kind: 'stdout', seq: 1, offset: 0, timeMs: 0, length: 0, newlines: 0 } as const;
    const segment = (number: number): Segment => ({ number, first, entries: 0, dataBytes: 0 });
    const starts = [1, 2, 3].map((number) => files.openToWrite(segment(number), 'data').start);
    expect(starts).toEqual([0, 110, 220]);
    expect(files.openToRead(segment(2), 'index')).toMatchObject({ start: 210, room: 10 });
    files.remove(segment(2));
    expect(() => files.openToRead(segment(2), 'data')).toThrow('deleted');
    expect(files.openToWrite(segment(4), 'data').start).toBe(110);
    expect(files.openToWrite(segment(5), 'data').start).toBe(330);
    files.release();
    expect(() => files.openToRead(segment(1), 'data')).toThrow('deleted');
  });
});
