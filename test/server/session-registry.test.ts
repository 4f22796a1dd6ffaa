import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ByteBudget, LineAccount } from '../../src/rpc/index.js';
import { Keep } from '../../src/server/keep.js';
import { ServerInput } from '../../src/contract/index.js';
import { ScreenRenderer } from '../../src/screen/index.js';
import { SessionRegistry } from '../../src/server/session-registry.js';
import type { SessionConnection } from '../../src/server/session/session-options.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
// A session without processes asks nothing else of its connection.
const connection = { account: new LineAccount() } as SessionConnection;
const keep = new Keep({ table: {}, log, renderer: new ScreenRenderer(new URL('file:///nowhere')) });

test.each([
  ['a minute', 60_000],
  ['thirty days, which is more than timers count', 30 * 24 * 3600 * 1000],
])('a lease of %s is kept', async (_, sessionTtlMs) => {
  const sessions = new SessionRegistry({
    sessionTtlMs,
    table: {},
    log,
    budget: new ByteBudget(),
    input: new ServerInput(),
    keep,
  });
  const { id } = sessions.open(connection, { acknowledged: true, principal: undefined });
  sessions.detach(sessions.get(id) ?? expect.fail());
  vi.advanceTimersByTime(59_000);
  expect(sessions.resume(id, connection, { principal: undefined }).id).toBe(id);
  // Closing looks for what still runs, and waits between two looks.
  vi.useRealTimers();
  await sessions.close();
});
