import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { after } from '../../src/protocol/max-timer.js';

const DAY_MS = 24 * 60 * 60_000;

// Nobody can wait that long.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1, 24 * DAY_MS, 25 * DAY_MS, 365 * DAY_MS])('%i ms are exact', (ms) => {
  const called = vi.fn();
  after(ms, called);
  vi.advanceTimersByTime(ms - 1);
  expect(called).toHaveBeenCalledTimes(0);
  vi.advanceTimersByTime(1);
  expect(called).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([0, 24, 100])('prevented after %i of 365 days', (days) => {
  const called = vi.fn();
  const stop = after(365 * DAY_MS, called);
  vi.advanceTimersByTime(days * DAY_MS);
  stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(called).not.toHaveBeenCalled();
});
