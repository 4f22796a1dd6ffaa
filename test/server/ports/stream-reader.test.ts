import { expect, test } from 'vitest';
import { BufferPool } from '../../../src/rpc/index.js';
import { READ_BYTES, streamReader } from '../../../src/server/ports/stream-reader.js';

/** A stream with so much room that notes what is written to it. */
function openReader(room: number) {
  const written: { bytes: Uint8Array; release: (() => void) | undefined }[] = [];
  const write = (bytes: Uint8Array, release?: () => void): boolean => {
    written.push({ bytes, release });
    return true;
  };
  const pool = new BufferPool({ bytes: READ_BYTES, kept: 4 });
  const reader = streamReader(pool, { write, room });
  /** Reads so many bytes of one value, as a socket does. Returns the size of the buffer it had for them. */
  const read = (count: number, value: number): number => {
    const into = typeof reader.buffer === 'function' ? reader.buffer() : reader.buffer;
    into.fill(value, 0, count);
    reader.callback(count, into);
    return into.length;
  };
  return { read, written };
}

test('what was read stays as it was, whatever is read later', () => {
  const { read, written } = openReader(4 * READ_BYTES);
  for (const [index, count] of [10, 65_536, READ_BYTES, 70_000, 5, 65_536, 3, 1].entries())
    read(count, index + 1);
  expect(written.map(({ bytes }) => bytes.length)).toEqual([10, 65_536, READ_BYTES, 70_000, 5, 65_536, 3, 1]);
  for (const [index, { bytes }] of written.entries())
    expect(bytes.every((byte) => byte === index + 1)).toBe(true);
});

test('a busy stream reads more at a time, into buffers that it gets back', () => {
  const { read, written } = openReader(4 * READ_BYTES);
  expect(read(65_536, 1)).toBe(65_536);
  expect(read(READ_BYTES, 2)).toBe(READ_BYTES);
  written[1]?.release?.();
  read(READ_BYTES, 3);
  read(READ_BYTES, 4);
  expect(written[2]?.bytes.buffer === written[1]?.bytes.buffer).toBe(true);
  expect(written[3]?.bytes.buffer === written[1]?.bytes.buffer).toBe(false);
});

test('one whose window is small reads no more than before', () => {
  const { read, written } = openReader(64 * 1024);
  for (let round = 0; round < 4; round += 1) expect(read(65_536, round)).toBe(65_536);
  expect(written.every(({ release }) => release === undefined)).toBe(true);
});
