// What an editor does with an app server: a terminal panel, a build task, and a file that changes on disk.
// Prints what happens, checks it, and exits with 1 when something is not as it should be.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppClient } from './app-client.mjs';

const execwire = fileURLToPath(new URL('bin/execwire.js', import.meta.resolve('execwire/package.json')));
const project = await mkdtemp(join(tmpdir(), 'editor-terminal-'));
const client = new AppClient(process.execPath, [
  execwire,
  'app-server',
  '--default-sandbox',
  'workspace-write',
]);

try {
  await client.request('initialize', {
    clientInfo: { name: 'editor', version: '1.0.0' },
    capabilities: { experimentalApi: true },
  });
  await terminalPanel();
  await buildTask();
  await openDocument();
  console.log('all as expected');
} finally {
  assert.equal(await client.close(), 0);
  await rm(project, { recursive: true });
}

/** A shell on a terminal: what the user types goes in, what the screen shows comes out. */
async function terminalPanel() {
  const processHandle = 'terminal-1';
  let screen = '';
  let changed = () => {};
  const show = ({ deltaBase64 }) => {
    screen += Buffer.from(deltaBase64, 'base64').toString();
    changed();
  };
  const shows = (text) =>
    new Promise((resolve) => {
      changed = () => {
        if (screen.includes(text)) resolve(undefined);
      };
      changed();
    });
  const type = (text) =>
    client.request('process/writeStdin', {
      processHandle,
      deltaBase64: Buffer.from(text).toString('base64'),
    });
  const exited = new Promise((resolve) => client.once('process/exited', resolve));
  client.on('process/outputDelta', show);

  await client.request('process/spawn', {
    command: ['/bin/sh'],
    processHandle,
    cwd: project,
    tty: true,
    size: { rows: 24, cols: 80 },
    // A terminal lives as long as its panel and shows everything.
    timeoutMs: null,
    outputBytesCap: null,
    env: { PS1: '> ', ENV: null },
  });
  await shows('> ');
  // The panel is dragged wider, and the user types on without waiting.
  void client.request('process/resizePty', { processHandle, size: { rows: 30, cols: 120 } });
  void type('stty size\n');
  await shows('30 120');
  await type('exit 7\n');
  const { exitCode } = await exited;
  client.off('process/outputDelta', show);
  console.log(screen.replaceAll('\r', '').trimEnd());
  assert.equal(exitCode, 7);
}

/** A task whose output is shown when it is done. */
async function buildTask() {
  const outcome = await client.request('command/exec', {
    command: ['sh', '-c', 'echo compiling; echo "1 warning" >&2; exit 2'],
    cwd: project,
    timeoutMs: 60_000,
  });
  console.log(outcome);
  assert.deepEqual(outcome, { exitCode: 2, stdout: 'compiling\n', stderr: '1 warning\n' });
}

/** A document the user has open, changed by someone else the way most tools do it: by replacing the file. */
async function openDocument() {
  const path = join(project, 'notes.txt');
  const write = (to, text) =>
    client.request('fs/writeFile', { path: to, dataBase64: Buffer.from(text).toString('base64') });
  await write(path, 'first');
  await client.request('fs/watch', { watchId: 'notes', path });
  for (const text of ['second', 'third']) {
    const change = new Promise((resolve) => client.once('fs/changed', resolve));
    await write(`${path}.new`, text);
    await client.request('command/exec', { command: ['mv', `${path}.new`, path] });
    assert.deepEqual((await change).changedPaths, [path]);
    const { dataBase64 } = await client.request('fs/readFile', { path });
    console.log('notes.txt is now:', Buffer.from(dataBase64, 'base64').toString());
    assert.equal(Buffer.from(dataBase64, 'base64').toString(), text);
  }
  await client.request('fs/unwatch', { watchId: 'notes' });
}
