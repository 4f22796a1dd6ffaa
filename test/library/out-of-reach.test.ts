import { expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { Environment } from '../../src/contract/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';

/** A server that can be taken out of reach: whoever dials again waits for ever. */
async function openFragile(): Promise<{ environment: Environment; server: ExecServer; cut: () => void }> {
  const server = new ExecServer({ sessionTtlMs: 60_000 });
  let cut = (): void => undefined;
  let reachable = true;
  const environment = await RemoteEnvironment.connect({
    id: 'fragile',
    dial: async () => {
      if (!reachable) return await new Promise<never>(() => undefined);
      const [near, far] = createMemoryChannels();
      void server.accept(far);
      cut = () => {
        reachable = false;
        far.close('cut');
      };
      return near;
    },
    resume: true,
    giveUpAfterMs: 60_000,
  });
  return { environment, server, cut: () => cut() };
}

test('an abort does not wait for a machine that is out of reach', async () => {
  const { environment, server, cut } = await openFragile();
  const abort = new AbortController();
  const lines = environment.lines(['sh', '-c', 'echo ready; sleep 1000'], { signal: abort.signal });
  expect(await lines.next()).toEqual({ done: false, value: 'ready' });
  const next = lines.next();
  cut();
  abort.abort();
  await expect(next).rejects.toMatchObject({ code: 'aborted' });
  // A start that never gets its answer, too.
  const late = new AbortController();
  const starting = environment.run(['true'], { signal: late.signal });
  late.abort();
  await expect(starting).rejects.toMatchObject({ code: 'aborted' });
  await server.close();
}, 20_000);
