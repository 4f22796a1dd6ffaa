import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const STARTS = 400;

test('a client that starts hundreds of processes at once delays nobody else', async () => {
  const server = await ServerProcess.start({});
  const connect = (id: string): Promise<RemoteEnvironment> =>
    RemoteEnvironment.connect({ id, dial: () => dialWebSocket(server.url), resume: false });
  const [greedy, other] = [await connect('greedy'), await connect('other')];
  let answers = 0;
  const over = new AbortController();
  const asking = (async () => {
    for (; !over.signal.aborted; answers += 1) await other.client.call('environment/status', null);
  })();
  const start = async (_: unknown, count: number): Promise<unknown> => {
    const child = await greedy.start({ argv: ['cat'], pipeStdin: true, processId: `number-${count}` });
    // What follows a start waits for it.
    await child.write('x');
    await child.closeStdin();
    return await child.wait();
  };
  const ends = await Promise.all(Array.from({ length: STARTS }, start));
  over.abort();
  await asking;
  expect(new Set(ends.map((end) => JSON.stringify(Object(end).exitCode)))).toEqual(new Set(['0']));
  // Not one for each start: a turn has time for several.
  expect(answers).toBeGreaterThan(STARTS / 10);
  for (const each of [greedy, other]) await each.close();
  await server.stop();
}, 60_000);
