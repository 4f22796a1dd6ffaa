import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProcessEnding } from '../../src/host/process-ending.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1000, 2 ** 31, 2 ** 53])('a grace of %d ms is kept, however long', (graceMs) => {
  const done: string[] = [];
  const ending = new ProcessEnding({
    signal: (name) => void done.push(name),
    recordTree: () => undefined,
    killTree: async () => void done.push('killed'),
    abandonOutput: () => undefined,
    exited: () => false,
    closed: new Promise(() => undefined),
  });
  ending.terminate(graceMs);
  vi.advanceTimersByTime(999);
  expect(done).toEqual(['SIGTERM']);
  ending.terminate(0);
  expect(done).toEqual(['SIGTERM', 'killed']);
});
