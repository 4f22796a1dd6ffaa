import { expect, test } from 'vitest';
import {
  CHUNK_BYTES,
  acquireMemory,
  acquireChunk,
  releaseChunk,
  retainChunk,
} from '../../../src/host/spawn/chunk-memory.js';
import { shell } from './harness.js';

test('a small chunk has memory of just its size, a large one a whole piece', () => {
  expect(acquireMemory(100).buffer.byteLength).toBe(100);
  expect(acquireMemory(CHUNK_BYTES - 1).buffer.byteLength).toBe(CHUNK_BYTES);
});

test('memory is used again after its last user is done with it, and not before', () => {
  const chunk = acquireChunk();
  retainChunk(chunk.subarray(0, 10));
  releaseChunk(chunk);
  expect(acquireChunk().buffer).not.toBe(chunk.buffer);
  releaseChunk(chunk);
  expect(acquireChunk().buffer).toBe(chunk.buffer);
});

test('releasing what was never acquired does nothing', () => {
  const foreign = new Uint8Array(CHUNK_BYTES);
  releaseChunk(foreign);
  expect(acquireChunk().buffer).not.toBe(foreign.buffer);
});

/** Numbered lines in large and small writes by turns, so that reads change between shared and own memory. */
function printer(name: string): string {
  const script = `
    const { writeSync } = require('node:fs');
    for (let n = 0; n < 200; n += 1) {
      const line = '${name} ' + n + '\\n';
      writeSync(1, line.repeat(n % 3 === 0 ? 12000 : 2));
    }`;
  return `'${process.execPath}' -e "${script.replaceAll('$', '\\$')}"`;
}

function printed(name: string): string {
  return Array.from({ length: 200 }, (_, n) => `${name} ${n}\n`.repeat(n % 3 === 0 ? 12_000 : 2)).join('');
}

test('children that flood at the same time do not write into what the others said', async () => {
  const names = ['one', 'two', 'three'];
  const children = names.map((name) => shell(printer(name), {}));
  await Promise.all(children.map(({ seen }) => seen.untilClosed()));
  const texts = children.map(({ seen }) => seen.text('stdout'));
  expect(texts.map((text, index) => text === printed(names[index] ?? ''))).toEqual([true, true, true]);
});
