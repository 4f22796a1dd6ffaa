import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { ExecServer, serve } from '../../src/server/index.js';
import { gone, TestFolder } from '../harness/processes.js';

test('serves on every address asked for, and says which', async () => {
  using folder = new TestFolder();
  const socket = `unix://${folder.file('socket')}`;
  await using serving = await serve({ listen: ['ws://127.0.0.1:0', socket] });
  expect(serving.urls).toEqual([expect.stringMatching(/^ws:\/\/127\.0\.0\.1:[1-9]\d*$/), socket]);
  for (const url of serving.urls) {
    await using environment = await openEnvironment(url);
    expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
  }
});

test('a free port of loopback unless told otherwise; an empty list opens none', async () => {
  await using one = await serve();
  expect(one.urls).toEqual([expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/)]);
  await using none = await serve({ listen: [] });
  expect(none.urls).toEqual([]);
  expect(none.server).toBeInstanceOf(ExecServer);
});

test('a token keeps everybody else out', async () => {
  await using serving = await serve({ auth: { token: 'open sesame' } });
  const [url = ''] = serving.urls;
  await expect(openEnvironment(url, { authBearerToken: 'wrong' })).rejects.toMatchObject({
    code: 'notConnected',
  });
  await using environment = await openEnvironment(url, { authBearerToken: 'open sesame' });
  expect((await environment.run(['true'])).exitCode).toBe(0);
});

test('closing ends what clients started, and the sockets', async () => {
  using folder = new TestFolder();
  const mark = `serve-${process.pid}-${Date.now()}`;
  const serving = await serve({ listen: `unix://${folder.file('socket')}` });
  const environment = await openEnvironment(serving.urls[0]);
  await environment.start({
    argv: ['sh', '-c', `echo ready > ${folder.file('ready')}; sleep 1000; :`, mark],
  });
  await folder.appears('ready');
  await Promise.all([serving.close(), serving.close()]);
  await gone(mark);
  expect(existsSync(folder.file('socket'))).toBe(false);
  await environment.close().catch(() => undefined);
});

test.each([
  [{ listen: 'ws://0.0.0.0:0' }, /without authentication/],
  [{ listen: 'stdio' }, /server\.accept/],
  [{ listen: 'ws://localhost:0' }, /IP address/],
  [{ auth: { token: '' } }, /empty/],
])('refuses %j', async (options, message) => {
  await expect(serve(options)).rejects.toMatchObject({
    code: 'invalidConfiguration',
    message: expect.stringMatching(message),
  });
});

test('one address that cannot be had leaves none of the others open', async () => {
  await using first = await serve();
  using folder = new TestFolder();
  const socket = folder.file('socket');
  await expect(serve({ listen: [`unix://${socket}`, first.urls[0] ?? ''] })).rejects.toThrow();
  expect(existsSync(socket)).toBe(false);
});
