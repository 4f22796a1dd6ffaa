import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { libc, linux, openPipe } from '../../../src/host/kernel/index.js';
import { CHUNK_BYTES } from '../../../src/host/spawn/chunk-memory.js';
import { FULL_CHUNKS, LARGE_BYTES, MAX_LARGE, PipeRoom } from '../../../src/host/spawn/pipe-room.js';
import { SplicedReader } from '../../../src/host/spawn/spliced-reader.js';
import { TestFolder } from '../../harness/processes.js';

/** A pipe with a reader that has enough of a flood for more room. */
function openFlood({ chunks = FULL_CHUNKS } = {}): { room: PipeRoom; size(): number; fill(): void } {
  const { readEnd, writeEnd } = openPipe();
  const room = new PipeRoom(readEnd);
  onTestFinished(() => {
    room.release();
    for (const fd of [readEnd, writeEnd]) closeSync(fd);
  });
  for (let taken = 0; taken < chunks; taken += 1) room.took(CHUNK_BYTES);
  return {
    room,
    size: () => sizeOf(readEnd),
    fill: () => void writeSync(writeEnd, Buffer.alloc(LARGE_BYTES)),
  };
}

function sizeOf(fd: number): number {
  return libc().fcntl(fd, linux.F_GETPIPE_SZ, 'int', 0);
}

test('a pipe that is full again and again becomes larger', () => {
  const almost = openFlood({ chunks: FULL_CHUNKS - 1 });
  for (let taken = 0; taken < 100; taken += 1) almost.room.took(CHUNK_BYTES - 1);
  expect(almost.size()).toBe(CHUNK_BYTES);
  almost.room.took(CHUNK_BYTES);
  expect(almost.size()).toBe(LARGE_BYTES);
});

test('few are large at a time, and one that does not need it gives its room to the next', () => {
  const first = Array.from({ length: MAX_LARGE }, () => openFlood());
  for (const each of first) each.fill();
  const late = openFlood();
  expect(late.size()).toBe(CHUNK_BYTES);
  const [idle] = first.splice(3, 1, openFlood({ chunks: 0 }));
  idle?.room.release();
  for (let taken = 0; taken < FULL_CHUNKS; taken += 1) late.room.took(CHUNK_BYTES);
  expect(late.size()).toBe(LARGE_BYTES);
  // It is large, and nothing is in it.
  const next = openFlood();
  expect([late.size(), next.size()]).toEqual([CHUNK_BYTES, LARGE_BYTES]);
});

test('a flood arrives whole through a pipe that grows meanwhile', async () => {
  const folder = new TestFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const fd = openSync(folder.file('output'), 'w+');
  const { readEnd, writeEnd } = openPipe();
  const piece = Buffer.from(Array.from({ length: CHUNK_BYTES }, (_, index) => index % 251));
  let [position, pieces, largest] = [0, 0, 0];
  const place = { begun: true, next: () => ({ fd, position }), failed: () => expect.unreachable() };
  const more = (): void => {
    if (pieces === 2 * FULL_CHUNKS) return closeSync(writeEnd);
    pieces += 1;
    writeSync(writeEnd, piece);
  };
  await new Promise<void>((ended) => {
    const bytes = (chunk: Uint8Array): void => {
      position += chunk.length;
      largest = Math.max(largest, sizeOf(readEnd));
      more();
    };
    new SplicedReader('stdout', readEnd, { place, events: { bytes, ended } }).start();
    more();
  });
  expect([position, largest]).toEqual([2 * FULL_CHUNKS * CHUNK_BYTES, LARGE_BYTES]);
  const written = Buffer.alloc(position);
  readSync(fd, written, 0, position, 0);
  closeSync(fd);
  expect(written.equals(Buffer.concat(Array<Buffer>(2 * FULL_CHUNKS).fill(piece)))).toBe(true);
});
