import { expect, test } from 'vitest';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';

test('every answer about an exit says what the process cost, if that was asked for', async () => {
  await using server = await serve();
  const { client } = await dialWire(server.url);
  await client.handshake();
  await client.call(
    'process/start',
    startParams('asked', sh('echo over'), { reportUsage: true, lease: 'kept' }),
  );
  await client.call('process/start', startParams('not', sh('echo over')));
  const events = await client.closedEvents('asked');
  const exited = events.find(({ method }) => method === 'process/exited')?.params as { usage?: unknown };
  expect(exited.usage).toMatchObject({ outputBytes: 5, userMs: expect.any(Number) });
  const { usage } = exited;
  expect(await client.call('process/read', { processId: 'asked' })).toMatchObject({ exitCode: 0, usage });
  expect(await client.call('process/wait', { processId: 'asked' })).toMatchObject({ exitCode: 0, usage });
  await client.closedEvents('not');
  expect(await client.call('process/read', { processId: 'not' })).not.toHaveProperty('usage');
});
