import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, KeyboardNews } from '../../src/contract/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { serve } from '../harness/serve.js';

const ROUND_TRIP_MS = 80;
/** What a handover may take besides the round trip. */
const MAX_MORE_MS = 50;
const HANDOVERS = 10;

/** Resolves to the time at which the keyboard was gone. */
function lost({ keyboard }: ExecProcess): Promise<number> {
  return new Promise((resolve) => {
    const stop = keyboard?.watch((news: KeyboardNews) => {
      if (news.type !== 'changed' || news.holds) return;
      stop?.();
      resolve(performance.now());
    });
  });
}

test('the keyboard changes hands in one round trip, and both know of it by then', {
  timeout: 30_000,
}, async () => {
  await using server = await serve();
  await using proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });
  const open = (id: string): Promise<RemoteEnvironment> =>
    RemoteEnvironment.connect({ id, dial: () => dialWebSocket(proxy.url), resume: true });
  await using first = await open('first');
  await using second = await open('second');
  let holder = await first.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
  let other = await second.attach('p', { keyboard: 'none' });
  await holder.keyboard?.take();
  const waits: number[] = [];
  for (let count = 0; count < HANDOVERS; count += 1) {
    const begun = performance.now();
    const told = lost(holder);
    await other.keyboard?.take();
    const taken = performance.now();
    waits.push(Math.max(taken, await told) - begun);
    expect([holder.keyboard?.holds, other.keyboard?.holds]).toEqual([false, true]);
    [holder, other] = [other, holder];
  }
  // The quickest one: a second round trip would show in all of them, another program's turn in some.
  expect(Math.min(...waits)).toBeLessThan(ROUND_TRIP_MS + MAX_MORE_MS);
});
