import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PendingCalls } from '../../src/rpc/pending-calls.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a call may take longer than timers count', async () => {
  const calls = new PendingCalls();
  const answer = calls.wait('1', 'any', { timeoutMs: 2 ** 40 });
  vi.advanceTimersByTime(60_000);
  calls.get('1')?.resolve('late');
  expect(await answer).toBe('late');
});

test('a call that may take 60 days is given up after 60 days', async () => {
  const timeoutMs = 60 * 24 * 60 * 60_000;
  const calls = new PendingCalls();
  const answer = calls.wait('1', 'any', { timeoutMs }).catch((error: unknown) => error);
  vi.advanceTimersByTime(timeoutMs - 1);
  expect(calls.get('1')).toBeDefined();
  vi.advanceTimersByTime(1);
  expect(await answer).toMatchObject({ code: 'requestTimeout' });
  expect(vi.getTimerCount()).toBe(0);
});
