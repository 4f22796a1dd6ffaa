import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProcessEnding } from '../../src/host/process-ending.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DAY_MS = 24 * 60 * 60_000;

function begin(): { ending: ProcessEnding; done: string[] } {
  const done: string[] = [];
  const ending = new ProcessEnding({
    signal: (name) => void done.push(name),
    recordTree: () => undefined,
    killTree: async () => void done.push('killed'),
    abandonOutput: () => undefined,
    timedOut: () => undefined,
    exited: () => false,
    closed: new Promise(() => undefined),
  });
  return { ending, done };
}

test.each([1000, 2 ** 31, 2 ** 53])('a grace of %d ms is kept, however long', (graceMs) => {
  const { ending, done } = begin();
  ending.terminate(graceMs);
  vi.advanceTimersByTime(999);
  expect(done).toEqual(['SIGTERM']);
  ending.terminate(0);
  expect(done).toEqual(['SIGTERM', 'killed']);
});

test('a grace of 60 days ends after 60 days', () => {
  const { ending, done } = begin();
  ending.terminate(60 * DAY_MS);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(done).toEqual(['SIGTERM']);
  vi.advanceTimersByTime(1);
  expect(done).toEqual(['SIGTERM', 'killed']);
});

test('a time limit of 60 days ends a process after 60 days', () => {
  const { ending, done } = begin();
  ending.limit(60 * DAY_MS);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect({ done, timedOut: ending.timedOut }).toEqual({ done: [], timedOut: false });
  vi.advanceTimersByTime(1);
  expect({ done, timedOut: ending.timedOut }).toEqual({ done: ['killed'], timedOut: true });
});

test('a process that has ended leaves no timers behind', () => {
  const { ending } = begin();
  ending.limit(60 * DAY_MS);
  ending.terminate(60 * DAY_MS);
  vi.advanceTimersByTime(30 * DAY_MS);
  ending.over();
  expect(vi.getTimerCount()).toBe(0);
});
