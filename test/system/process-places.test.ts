import { expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const PLACES = 10;
const SHORT_COMMANDS = 50;

async function session(): Promise<{ server: ServerProcess; client: WireClient }> {
  const server = await ServerProcess.start({ args: ['--max-processes', String(PLACES)] });
  const { client } = await dialWire(server.url);
  await client.handshake();
  return { server, client };
}

async function codeOf(client: WireClient, method: string, params: object): Promise<unknown> {
  return (await client.ask(method, params)).error?.data?.code;
}

test('processes that have ended give way to new ones, those that ended first before others', async () => {
  const { server, client } = await session();
  await using _ = server;
  await client.call('process/start', startParams('running', ['/bin/cat'], { pipeStdin: true }));
  for (let index = 0; index < SHORT_COMMANDS; index += 1) {
    const id = `short-${index}`;
    await client.call('process/start', startParams(id, ['/bin/echo', id]));
    await client.closedEvents(id);
    expect(client.output(id).toString()).toBe(`${id}\n`);
  }
  const kept: number[] = [];
  for (let index = 0; index < SHORT_COMMANDS; index += 1) {
    const code = await codeOf(client, 'process/read', { processId: `short-${index}` });
    if (code === undefined) kept.push(index);
    else expect(code).toBe('processNotFound');
  }
  expect(kept).toEqual(
    Array.from({ length: PLACES - 1 }, (_each, index) => SHORT_COMMANDS - PLACES + 1 + index),
  );
  expect(await client.call('process/read', { processId: 'running' })).toMatchObject({ exited: false });
});

test('processes that run are not given up for new ones', async () => {
  const { server, client } = await session();
  await using _ = server;
  for (let index = 0; index < PLACES; index += 1) {
    await client.call('process/start', startParams(`run-${index}`, ['/bin/cat'], { pipeStdin: true }));
  }
  const oneMore = startParams('more', ['/bin/true']);
  expect(await codeOf(client, 'process/start', oneMore)).toBe('tooManyProcesses');
  await client.call('process/terminate', { processId: 'run-3' });
  await client.closedEvents('run-3');
  expect(await codeOf(client, 'process/start', oneMore)).toBeUndefined();
});
