import { afterEach, expect, test, vi } from 'vitest';
import { ProcessTable } from '../../src/host/index.js';

/** How long a closed process can still be read. */
const RETAINED_MS = 30_000;
const DAY_MS = 24 * 60 * 60_000;

afterEach(() => {
  vi.useRealTimers();
});

function openTable(options: { maxProcesses?: number; retainClosedMs?: number } = {}): {
  table: ProcessTable;
  forgotten: string[];
} {
  const forgotten: string[] = [];
  const table = new ProcessTable({ ...options, onForgotten: (id) => void forgotten.push(id) });
  return { table, forgotten };
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

test('a closed process can be read for longer than one timer counts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { table, forgotten } = openTable({ retainClosedMs: 60 * DAY_MS });
  await table.start(spec('a')).wait();
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect({ forgotten, kept: table.get('a') !== undefined }).toEqual({ forgotten: [], kept: true });
  vi.advanceTimersByTime(1);
  expect({ forgotten, kept: table.get('a') !== undefined }).toEqual({ forgotten: ['a'], kept: false });
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

test('a closed process keeps its place while somebody has still to read how it ended', async () => {
  const { table, forgotten } = openTable({ maxProcesses: 2 });
  const unread = table.start(spec('unread'));
  const hold = unread.log.hold(0);
  await unread.wait();
  await table.start(spec('read')).wait();
  await table.start(spec('third')).wait();
  expect(forgotten).toEqual(['read']);
  const holdOfThird = table.get('third')?.log.hold(0);
  expect(() => table.start(spec('fourth'))).toThrow('limit of processes');
  hold.release();
  await table.start(spec('fourth')).wait();
  expect(forgotten).toEqual(['read', 'unread']);
  holdOfThird?.release();
  await table.close();
});
