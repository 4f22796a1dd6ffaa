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
