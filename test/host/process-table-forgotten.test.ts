import { afterEach, expect, test, vi } from 'vitest';
import { ProcessTable } from '../../src/host/index.js';

/** How long a closed process can still be read. */
const RETAINED_MS = 30_000;

afterEach(() => {
  vi.useRealTimers();
});

function openTable(): { table: ProcessTable; forgotten: string[] } {
  const forgotten: string[] = [];
  return { table: new ProcessTable({ onForgotten: (id) => void forgotten.push(id) }), forgotten };
}

function spec(processId: string) {
  return {
    processId,
    argv: ['/bin/true'],
    cwd: process.cwd(),
    env: {},
    stdin: 'null',
    terminal: null,
  } as const;
}

test('a closed process is forgotten when its time is over, and says so once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { table, forgotten } = openTable();
  await table.start(spec('a')).wait();
  vi.advanceTimersByTime(RETAINED_MS - 1);
  expect({ forgotten, kept: table.get('a') !== undefined }).toEqual({ forgotten: [], kept: true });
  vi.advanceTimersByTime(1);
  expect({ forgotten, kept: table.get('a') !== undefined }).toEqual({ forgotten: ['a'], kept: false });
  await table.start(spec('a')).wait();
  expect(forgotten).toEqual(['a']);
  // Ending what may be left waits for real time.
  vi.useRealTimers();
  await table.close();
});

test('a disposed process is forgotten at once', async () => {
  const { table, forgotten } = openTable();
  const child = table.start(spec('b'));
  await child.wait();
  await child[Symbol.asyncDispose]();
  expect({ forgotten, kept: table.get('b') !== undefined }).toEqual({ forgotten: ['b'], kept: false });
  await table.close();
});
