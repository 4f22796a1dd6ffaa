import { expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { type OpenEnvironment, openChosen } from '../../src/environment/index.js';
import { dialWebSocket } from '../../src/transport/index.js';
import { localEnvironments, openInProcess } from '../harness/app-in-process.js';
import { base64 } from '../../testkit/app-client.mjs';
import { StdioApp } from '../../testkit/app-server.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

test('everything about programs works the same on another machine', async () => {
  await using machine = await ServerProcess.start({ env: { WHERE: 'there', Gone: 'x' } });
  await using app = openInProcess({ environments: localEnvironments(openChosen) });
  const client = await app.client.initialize();
  const environmentId = 'box';
  await client.call('environment/add', { environmentId, execServerUrl: machine.url });
  const exec = (script: string, more: object = {}) =>
    client.call('command/exec', { command: ['sh', '-c', script], environmentId, ...more });
  expect(await exec('echo $WHERE $Gone; exit 3', { env: { Gone: null } })).toEqual({
    exitCode: 3,
    stdout: 'there\n',
    stderr: '',
  });
  expect(await exec('printf abcde; printf 12345 >&2', { outputBytesCap: 3 })).toMatchObject({
    stdout: 'abc',
    stderr: '123',
  });
  expect(await exec('sleep 1000', { timeoutMs: 0 })).toMatchObject({ exitCode: 124 });
  expect((await client.refusal('command/exec', { command: ['/no/such'], environmentId }))[0]).toBe(-32603);
  const tty = { command: ['cat'], processHandle: 't', cwd: '/', tty: true, environmentId };
  client.post('s', 'process/spawn', { ...tty, size: { rows: 9, cols: 9 } });
  client.post('w', 'process/writeStdin', { processHandle: 't', deltaBase64: base64('hi\n') });
  await client.shows('t', 'hi\r\nhi\r\n');
  client.post('r', 'process/resizePty', { processHandle: 't', size: { rows: 8, cols: 8 } });
  await client.call('process/kill', { processHandle: 't' });
  expect(await client.exited('t')).toMatchObject({ exitCode: 137 });
  expect(await client.call('environment/status', { environmentId })).toEqual({ status: 'ready' });
});

test('files of another machine are read, written, watched and refused as those of this one', async () => {
  await using machine = await ServerProcess.start();
  using folder = new TestFolder();
  await using app = openInProcess({ environments: localEnvironments(openChosen) });
  const client = await app.client.initialize();
  const environmentId = 'box';
  await client.call('environment/add', { environmentId, execServerUrl: machine.url });
  const path = folder.file('a');
  expect(await client.call('fs/watch', { watchId: 'w', path, environmentId })).toEqual({ path });
  await client.call('fs/writeFile', { path, dataBase64: 'aGk=', environmentId });
  expect(await client.call('fs/readFile', { path, environmentId })).toEqual({ dataBase64: 'aGk=' });
  await client.wire.until(() => client.notifications('fs/changed').length > 0);
  expect(client.notifications('fs/changed')[0]?.params).toEqual({ watchId: 'w', changedPaths: [path] });
  await client.call('fs/unwatch', { watchId: 'w' });
  const { entries } = await client.call('fs/readDirectory', { path: folder.path, environmentId });
  expect(entries).toEqual([{ fileName: 'a', isDirectory: false, isFile: true }]);
  const missing = { path: folder.file('missing'), environmentId };
  expect((await client.refusal('fs/readFile', missing))[0]).toBe(-32603);
  expect((await client.refusal('fs/readFile', { path: folder.path, environmentId }))[0]).toBe(-32600);
});

test('contact lost is an error or -1, never an ordinary end', async () => {
  await using machine = await ServerProcess.start();
  const open: OpenEnvironment = ({ id }) =>
    RemoteEnvironment.connect({
      id,
      dial: () => dialWebSocket(machine.url),
      resume: true,
      giveUpAfterMs: 100,
    });
  await using app = openInProcess({ environments: localEnvironments(open) });
  using folder = new TestFolder();
  const client = await app.client.initialize();
  const command = ['sh', '-c', `echo up > ${folder.file('up')}; sleep 1000`];
  client.post('run', 'command/exec', { command, disableTimeout: true });
  const spawn = { command: ['sleep', '1000'], processHandle: 'p', cwd: '/', timeoutMs: null };
  await client.call('process/spawn', spawn);
  await folder.appears('up');
  await machine.stop('SIGKILL');
  expect(await client.wire.answerTo('run')).toMatchObject({ error: { code: -32603 } });
  expect(await client.exited('p')).toMatchObject({ exitCode: -1, stdout: '' });
});

test('the built server uses the environments of its configuration', async () => {
  await using machine = await ServerProcess.start({ env: { WHERE: 'there' } });
  await using app = new StdioApp({ env: { EXECWIRE_SERVER_URL: machine.url } });
  const client = await app.client.initialize();
  const params = { command: ['sh', '-c', 'echo $WHERE'] };
  expect(await client.call('command/exec', params)).toMatchObject({ stdout: 'there\n' });
});
