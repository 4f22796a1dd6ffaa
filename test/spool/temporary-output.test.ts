import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MAX_WRITE_BYTES, SpoolQuota, TemporaryOutput } from '../../src/spool/index.js';
import { NamelessSegmentFiles } from '../../src/spool/nameless-segment-files.js';
import type { Segment } from '../../src/spool/segment.js';
import { TestFolder } from '../harness/processes.js';

const KIB = 1024;
const MIB = KIB * KIB;
const WRITE_BYTES = 256 * KIB;
const NOTHING = new Uint8Array(0);

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

async function fill(
  output: TemporaryOutput,
  { from = 0, to, chunkBytes = 64 * KIB }: { from?: number; to: number; chunkBytes?: number },
): Promise<void> {
  for (let at = from; at < to; at += WRITE_BYTES) {
    const count = WRITE_BYTES / chunkBytes;
    await output.write(
      Array.from({ length: count }, (_, index) => patterned(at + index * chunkBytes, chunkBytes)),
    );
  }
}

/** Everything there is, as ranges. Fails if a byte is not the one that was written there. */
async function ranges(output: TemporaryOutput): Promise<[number, number][]> {
  const found: [number, number][] = [];
  for (let at = 0; ; ) {
    const piece = await output.bytesAt(at, 100_000);
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
    async (chunkBytes) => {
      using folder = new TestFolder();
      const output = open(folder.path, { headBytes: MIB, tailBytes: 2 * MIB });
      await fill(output, { to: 3 * MIB, chunkBytes });
      expect(await ranges(output)).toEqual([[0, 3 * MIB]]);
      await fill(output, { from: 3 * MIB, to: 40 * MIB, chunkBytes });
      const found = await ranges(output);
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
    async () => {
      using folder = new TestFolder();
      const output = open(folder.path, { headBytes: MIB, tailBytes: 2 * MIB });
      expect(openFiles(folder)).toEqual([]);
      await fill(output, { to: 40 * MIB });
      const [file = '', ...others] = openFiles(folder);
      expect({ others, names: readdirSync(folder.path) }).toEqual({ others: [], names: [] });
      // Slots of deleted segments are used again.
      expect(statSync(file).blocks * 512).toBeLessThan(4 * MIB);
      output.release();
      expect(openFiles(folder)).toEqual([]);
      expect(await output.bytesAt(0, 1)).toBeUndefined();
      expect(output.keptBytes).toBe(0);
      output.release();
    },
  );

  test('one write has a limit, and what exceeds it does not spoil what is there', async () => {
    using folder = new TestFolder();
    const output = open(folder.path, { headBytes: MIB, tailBytes: MIB });
    await output.write([patterned(0, MAX_WRITE_BYTES)]);
    const more = patterned(MAX_WRITE_BYTES, MAX_WRITE_BYTES + 1);
    await expect(output.write([more])).rejects.toThrow('room');
    expect(await ranges(output)).toEqual([[0, MAX_WRITE_BYTES]]);
    output.release();
  });

  test.runIf(process.platform === 'linux')(
    'deleted segments cannot be read, and their slots are used again before the file grows',
    () => {
      using folder = new TestFolder();
      const files = new NamelessSegmentFiles(folder.path, { data: 100, index: 10 });
      const first = { kind: 'stdout', seq: 1, offset: 0, timeMs: 0, length: 0, newlines: 0 } as const;
      const segment = (number: number): Segment => ({ number, first, entries: 0, dataBytes: 0 });
      const start = (number: number): number => {
        const part = files.openToWrite(segment(number), 'data');
        files.close();
        return part.start;
      };
      const starts = [1, 2, 3].map(start);
      expect(starts).toEqual([0, 110, 220]);
      expect(files.openToRead(segment(2), 'index')).toMatchObject({ start: 210, room: 10 });
      files.remove(segment(2));
      expect(() => files.openToRead(segment(2), 'data')).toThrow('deleted');
      expect([4, 5].map(start)).toEqual([110, 330]);
      files.release();
      // One part is still open.
      expect(() => files.openToRead(segment(1), 'data')).toThrow('deleted');
      expect(openFiles(folder)).toHaveLength(1);
      files.close();
      expect(openFiles(folder)).toEqual([]);
    },
  );

  test.runIf(process.platform === 'linux')(
    'what is deleted while it is read or written is gone, and nobody gets anything else for it',
    async () => {
      using folder = new TestFolder();
      const output = open(folder.path, { headBytes: 0, tailBytes: 0 });
      let end = 2 * MIB;
      await fill(output, { to: end });
      for (let round = 0; round < 100; round += 1) {
        // The write takes the slot of what is being read.
        const reads = Array.from({ length: 3 }, () => output.bytesAt(0, WRITE_BYTES));
        await fill(output, { from: end, to: end + WRITE_BYTES });
        end += WRITE_BYTES;
        for (const found of await Promise.all(reads)) {
          const { offset, bytes } = found ?? { offset: -1, bytes: NOTHING };
          expect({ offset, intact: patterned(offset, WRITE_BYTES).equals(bytes) }).toMatchObject({
            intact: true,
          });
        }
      }
      const [writing, late] = [output.write([patterned(end, KIB)]), output.bytesAt(end - 1000, 1000)];
      output.release();
      await expect(writing).rejects.toThrow('deleted');
      expect(await late).toBeUndefined();
      expect(output.keptBytes).toBe(0);
      expect(openFiles(folder)).toEqual([]);
      await expect(output.write([Buffer.from('more')])).rejects.toThrow('deleted');
    },
  );
});
