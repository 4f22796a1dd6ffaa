import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextDescriptor, openFiles, openFilesLimit, setLimit, tasksOf } from '../harness/limits.js';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams, type WireAnswer, type WireClient } from '../../testkit/wire-client.mjs';

/** More starts than any limit here allows. */
const MANY = 60;
/** The server with its threads and some processes, and fewer than are started. */
const ROOM_FOR_TASKS = 40;
/** A user nobody is, so that nobody else counts against its limits. */
const LONELY_UID = 61_234;

/** Starts processes until one is refused. Returns the refusal and how many run. */
async function startUntilRefused(
  client: WireClient,
  more: object = {},
): Promise<{ refusal: WireAnswer['error']; started: string[] }> {
  const started: string[] = [];
  for (let index = 0; index < MANY; index += 1) {
    const id = `many-${index}`;
    const { error } = await client.ask('process/start', startParams(id, ['sleep', '1000'], { ...more }));
    if (error) return { refusal: error, started };
    started.push(id);
  }
  throw new Error('nothing was refused');
}

async function endAll(client: WireClient, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((processId) => client.call('process/terminate', { processId })));
  await Promise.all(ids.map((processId) => client.closedEvents(processId)));
}

async function worksAgain(client: WireClient, more: object = {}): Promise<void> {
  await client.call('process/start', startParams('after', ['echo', 'fine'], { ...more }));
  await client.closedEvents('after');
  expect(client.output('after').toString().trim()).toBe('fine');
}

/** Waits until descriptors that are closed a moment later are. */
async function openFilesFallTo(pid: number, limit: number): Promise<void> {
  while (openFiles(pid) > limit) {
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

describe('when something runs out', () => {
  let folder: TestFolder;
  let server: ServerProcess;
  beforeEach(() => {
    folder = new TestFolder();
  });
  afterEach(async () => {
    await server.stop();
    folder[Symbol.dispose]();
  });

  async function open(options: { wrapper?: string[] } = {}): Promise<WireClient> {
    server = await ServerProcess.start({ args: ['--log-level', 'silent'], ...options });
    const { client } = await dialWire(server.url);
    await client.handshake();
    // Whatever is opened with the first process is open before anything is counted.
    await client.call('process/start', startParams('first', ['true']));
    await client.closedEvents('first');
    await client.call('process/start', startParams('first-tty', ['true'], { tty: true }));
    await client.closedEvents('first-tty');
    return client;
  }

  test.each([false, true])(
    'descriptors (tty: %s): starts are refused with the reason, then work again',
    async (tty) => {
      const client = await open();
      const [before, limit] = [openFiles(server.pid), openFilesLimit(server.pid)];
      setLimit(server.pid, 'nofile', before + 12);
      const { refusal, started } = await startUntilRefused(client, { tty });
      expect(refusal).toMatchObject({ code: -32603, data: { code: 'spawnFailed', reason: 'resourceLimit' } });
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
      await endAll(client, started);
      await openFilesFallTo(server.pid, before);
      await worksAgain(client, { tty });
      setLimit(server.pid, 'nofile', limit);
    },
  );

  test('descriptors: files and new connections are refused, old connections live on', async () => {
    const client = await open();
    const limit = openFilesLimit(server.pid);
    const path = `file://${folder.file('file')}`;
    await client.call('fs/writeFile', { path, dataBase64: 'AAAA' });
    setLimit(server.pid, 'nofile', nextDescriptor(server.pid));
    const { error } = await client.ask('fs/readFile', { path });
    expect(error).toMatchObject({ code: -32603, data: { code: 'ioFailed', osCode: 'EMFILE' } });
    for (let attempt = 0; attempt < 20; attempt += 1) await expect(dialWire(server.url)).rejects.toThrow();
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    setLimit(server.pid, 'nofile', limit);
    expect(await client.call('fs/readFile', { path })).toEqual({ dataBase64: 'AAAA' });
    const { client: late } = await dialWire(server.url);
    await late.handshake();
    await worksAgain(client);
  });

  test('processes: starts are refused with the reason, then work again', async () => {
    const uid = process.getuid?.() ?? 0;
    const root = uid === 0;
    // The limit does not hold for root, so root becomes somebody else; the program stays readable wherever it lies.
    const somebody = ['setpriv', `--reuid=${LONELY_UID}`, '--clear-groups'];
    const readable = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
    const limit = tasksOf(root ? LONELY_UID : uid) + ROOM_FOR_TASKS;
    const wrapper = ['prlimit', `--nproc=${limit}`, ...(root ? [...somebody, ...readable] : [])];
    const client = await open({ wrapper });
    const { refusal, started } = await startUntilRefused(client);
    expect(refusal).toMatchObject({
      code: -32603,
      data: { code: 'spawnFailed', reason: 'resourceLimit', errno: 'EAGAIN' },
    });
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    await endAll(client, started);
    await worksAgain(client);
  });

  test('terminals: starts are refused with the reason, pipes go on, then work again', async () => {
    // Terminals of its own, three of them, in a view of the file system that ends with the server.
    const prepare = [
      'mount -t devpts -o newinstance,ptmxmode=0666,max=3 devpts /dev/pts',
      'mount --bind /dev/pts/ptmx /dev/ptmx',
      'exec "$@"',
    ];
    const wrapper = ['unshare', '--map-root-user', '--mount', 'sh', '-c', prepare.join(' && '), 'sh'];
    const client = await open({ wrapper });
    const { refusal, started } = await startUntilRefused(client, { tty: true });
    expect(refusal).toMatchObject({ code: -32603, data: { code: 'spawnFailed', reason: 'resourceLimit' } });
    expect(started).toHaveLength(3);
    await client.call('process/start', startParams('pipes', ['echo', 'fine']));
    await client.closedEvents('pipes');
    await endAll(client, started);
    await worksAgain(client, { tty: true });
  });

  test('space: a write that does not fit says so and the old content of an atomic one stays', async () => {
    const client = await open();
    const path = `file://${folder.file('file')}`;
    const large = Buffer.alloc(200_000, 'x').toString('base64');
    await client.call('fs/writeFile', { path, dataBase64: 'AAAA' });
    setLimit(server.pid, 'fsize', 100_000);
    for (const atomic of [true, false]) {
      const { error } = await client.ask('fs/writeFile', { path, dataBase64: large, atomic });
      expect(error).toMatchObject({ code: -32603, data: { code: 'ioFailed', osCode: 'EFBIG' } });
      if (atomic) expect(await client.call('fs/readFile', { path })).toEqual({ dataBase64: 'AAAA' });
    }
    setLimit(server.pid, 'fsize', 'unlimited');
    await client.call('fs/writeFile', { path, dataBase64: large });
    expect(await client.call('fs/readFile', { path })).toEqual({ dataBase64: large });
    await worksAgain(client);
  });

  test('a device that is always full says so', async () => {
    const client = await open();
    symlinkSync('/dev/full', folder.file('full'));
    const path = `file://${folder.file('full')}`;
    const { error } = await client.ask('fs/writeFile', { path, dataBase64: 'AAAA' });
    expect(error).toMatchObject({ code: -32603, data: { code: 'ioFailed', osCode: 'ENOSPC' } });
    await worksAgain(client);
  });
});
