import { EventEmitter, once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openPipe } from '../../../src/host/kernel/index.js';
import { CHUNK_BYTES } from '../../../src/host/spawn/chunk-memory.js';
import { SplicedReader } from '../../../src/host/spawn/spliced-reader.js';
import { TestFolder } from '../../harness/processes.js';

test('pieces of a flood end at boundaries of their file, whatever came before', async () => {
  const folder = new TestFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const path = folder.file('output');
  const fd = openSync(path, 'w+');
  onTestFinished(() => closeSync(fd));
  const ends: number[] = [];
  const arrived: Uint8Array[] = [];
  const events = new EventEmitter();
  let position = 0;
  const { readEnd, writeEnd } = openPipe();
  const place = { begun: true, next: () => ({ fd, position }), failed: () => expect.unreachable() };
  const bytes = (chunk: Uint8Array): void => {
    position += chunk.length;
    ends.push(position);
    arrived.push(new Uint8Array(chunk));
    events.emit(String(position));
  };
  const ended = (): void => void events.emit('ended');
  new SplicedReader('stdout', readEnd, { place, events: { bytes, ended } }).start();

  const first = Buffer.alloc(40_000, 'a');
  writeSync(writeEnd, first);
  await once(events, String(first.length));
  const second = Buffer.alloc(CHUNK_BYTES, 'b');
  writeSync(writeEnd, second);
  await once(events, String(first.length + second.length));
  closeSync(writeEnd);
  await once(events, 'ended');

  expect(ends).toEqual([first.length, CHUNK_BYTES, first.length + CHUNK_BYTES]);
  const whole = Buffer.concat([first, second]);
  expect(Buffer.concat(arrived).equals(whole)).toBe(true);
  expect(readFileSync(path).equals(whole)).toBe(true);
});
