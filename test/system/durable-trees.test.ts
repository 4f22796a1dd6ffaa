import { expect, test } from 'vitest';
import { startParams } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { gone } from '../harness/processes.js';
import { reconnect } from '../harness/reconnect.js';

const SLOW = { timeout: 90_000 };
const names = (kind: string): string[] => [1, 2, 3, 4, 5].map((count) => `${kind}${count}`);

test('a program does not end with those of an earlier server, which were over before', SLOW, async () => {
  await using server = await DurableServer.start();
  // Nothing runs when a server dies. So the next one cannot see how far the one before it had counted.
  server.kill();
  const first = await reconnect(server.url);
  for (const processId of names('brief')) {
    await first.call('process/start', startParams(processId, ['true']));
    await first.closedEvents(processId);
  }
  server.kill();
  const second = await reconnect(server.url);
  for (const processId of names('long'))
    await second.call('process/start', startParams(processId, ['cat'], { pipeStdin: true }));
  const owner = await reconnect(server.url, { resumeSessionId: first.id });
  const mark = `execwire-last-${process.pid}`;
  await owner.call('process/start', startParams('last', ['/bin/sh', '-c', 'sleep 1000; :', mark]));
  owner.send('{"method":"session/end","params":{}}');
  await gone(mark);
  for (const processId of names('long')) {
    await second.call('process/closeStdin', { processId });
    const events = await second.closedEvents(processId);
    expect(events.at(-2)?.params).toMatchObject({ exitCode: 0 });
  }
});
