import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { bin, endChild, firstLine, launch } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';

/** Threads of libuv's pool unless somebody asks for another number. */
const POOL_THREADS = 4;
/** A user nobody is: a limit on processes does not hold for root. */
const LONELY_UID = 61_236;
const somebody =
  process.getuid?.() === 0
    ? ['setpriv', `--reuid=${LONELY_UID}`, `--regid=${LONELY_UID}`, '--clear-groups', '--inh-caps=-all']
    : [];

/** What newer Nodes call a thread of the pool. */
const POOL_NAME = 'libuv-worker\n';

/** The threads of the pool where they have a name, otherwise all: other threads come and go. */
function threadsOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const names = readdirSync(tasks).flatMap((task) => {
    try {
      return [readFileSync(`${tasks}/${task}/comm`, 'utf8')];
    } catch {
      return [];
    }
  });
  return names.filter((name) => name === POOL_NAME).length || names.length;
}

/** Threads of a command that has said its first line. */
async function threadsOfReady(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = launch([process.execPath, bin, ...args], { env });
  child.stderr.resume();
  try {
    await firstLine(child);
    return threadsOf(child.pid ?? -1);
  } finally {
    await endChild(child);
  }
}

test('a server that is ready serves files though there is no room for another thread', async () => {
  using folder = new TestFolder();
  chmodSync(folder.path, 0o777);
  const env = { HOME: folder.path };
  await using server = await ServerProcess.start({ wrapper: somebody, cwd: folder.path, env });
  const [program, ...args] = [...somebody, 'prlimit', '--pid', String(server.pid), '--nproc=1:'];
  execFileSync(program, args);
  const { client } = await dialWire(server.url);
  await client.handshake();
  const path = pathToFileURL(folder.file('new')).href;
  await client.call('fs/writeFile', { path, dataBase64: Buffer.from('content').toString('base64') });
  expect(readFileSync(folder.file('new'), 'utf8')).toBe('content');
});

test.each([
  ['serve', '--listen', 'ws://127.0.0.1:0'],
  ['app-server', '--listen', 'ws://127.0.0.1:0'],
  ['mcp', '-e', 'local', '--listen', 'http://127.0.0.1:0'],
])('%s has its threads before it says that it is ready', async (...args) => {
  const usual = await threadsOfReady(args, { UV_THREADPOOL_SIZE: String(POOL_THREADS) });
  const more = await threadsOfReady(args, { UV_THREADPOOL_SIZE: String(POOL_THREADS + 3) });
  expect(more - usual).toBe(3);
});
