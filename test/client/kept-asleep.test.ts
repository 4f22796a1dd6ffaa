import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess } from '../../src/contract/index.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

/** A server that forgets a session a second after its client went, and a line to it that can be cut. */
let server: ServerProcess;
let proxy: FaultProxy;
let folder: TestFolder;
beforeEach(async () => {
  folder = new TestFolder();
  server = await ServerProcess.start({
    args: ['--session-ttl', '1', '--spool', folder.file('spool'), '--log-level', 'debug'],
  });
  proxy = await FaultProxy.to(server.url);
});
afterEach(async () => {
  await proxy.close();
  await server.stop();
  folder[Symbol.dispose]();
});

function connect(): Promise<RemoteEnvironment> {
  return RemoteEnvironment.connect({ id: 'far', dial: () => dialWebSocket(proxy.url), resume: true });
}

/** Somebody whose line is not cut. */
function connectDirectly(): Promise<RemoteEnvironment> {
  return RemoteEnvironment.connect({ id: 'other', dial: () => dialWebSocket(server.url), resume: false });
}

/** As a laptop that sleeps until the server has given it up. */
async function sleepLong(times = 1): Promise<void> {
  proxy.interrupt();
  await expect.poll(() => server.stderr.split('session expired').length - 1).toBe(times);
  proxy.restore();
}

async function nextText(output: AsyncIterator<Uint8Array>): Promise<string> {
  const { value } = (await output.next()) as { value: Uint8Array };
  return Buffer.from(value).toString();
}

describe('a client that wakes after the server has forgotten its session', () => {
  test('finds its shell as it was, and types on', { timeout: 60_000 }, async () => {
    await using environment = await connect();
    const argv = ['sh', '-c', 'kept=42; while read -r line; do eval "$line"; done'];
    const shell = await environment.start({ argv, pipeStdin: true, lease: 'kept', retain: 'disk' });
    const output = shell.stdout[Symbol.asyncIterator]();
    await shell.write('echo before $kept\n');
    expect(await nextText(output)).toBe('before 42\n');
    await shell.write('kept=43\n');
    await sleepLong();
    await shell.write('echo after $kept\n');
    expect(await nextText(output)).toBe('after 43\n');
    await sleepLong(2);
    await shell.write('echo again $kept; exit 7\n');
    expect(await nextText(output)).toBe('again 43\n');
    expect(await shell.wait()).toEqual({ kind: 'exited', exitCode: 7 });
  });

  test('learns what nobody answered for; neither that nor what came behind it is typed later', async () => {
    await using environment = await connect();
    const argv = ['sh', '-c', 'while read -r line; do echo "got $line"; done'];
    const shell = await environment.start({ argv, pipeStdin: true, lease: 'kept', retain: 'disk' });
    const output = shell.stdout[Symbol.asyncIterator]();
    void proxy.stall('toClient', 60_000);
    const first = shell.write('first\n');
    await expect.poll(async () => (await storedOutput(shell.processId)).toString()).toBe('got first\n');
    const asleep = sleepLong();
    const second = shell.write('second\n');
    const unanswered = { code: 'contactLost', data: { unanswered: true } };
    await Promise.all([
      expect(first).rejects.toMatchObject(unanswered),
      expect(second).rejects.toMatchObject(unanswered),
      asleep,
    ]);
    expect(await nextText(output)).toBe('got first\n');
    await shell.write('third\n');
    expect(await nextText(output)).toBe('got third\n');
    await shell.closeStdin();
    expect(await shell.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  test('misses nothing of what was printed meanwhile', { timeout: 60_000 }, async () => {
    await using environment = await connect();
    const lines = 200_000;
    const script = `seq 1 1000; until [ -e '${folder.file('go')}' ]; do sleep 0.01; done; seq 1001 ${lines}`;
    const process = await environment.start({ argv: sh(script), lease: 'kept', retain: 'disk' });
    const read = wholeOutput(process);
    await expect.poll(() => server.stderr).toContain('session attached');
    proxy.interrupt();
    writeFileSync(folder.file('go'), '');
    await expect.poll(() => server.stderr).toContain('session expired');
    proxy.restore();
    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('');
    expect((await read) === expected).toBe(true);
  });

  test('hears of an end that it slept through', async () => {
    await using environment = await connect();
    const script = `until [ -e '${folder.file('go')}' ]; do sleep 0.01; done; echo done; exit 3`;
    const process = await environment.start({ argv: sh(script), lease: 'kept' });
    const end = process.wait();
    proxy.interrupt();
    writeFileSync(folder.file('go'), '');
    await expect.poll(() => server.stderr).toContain('session expired');
    proxy.restore();
    expect(await end).toEqual({ kind: 'exited', exitCode: 3 });
    expect(await process.text()).toBe('done\n');
  });

  test('loses what ends with its session, as before', async () => {
    await using environment = await connect();
    const process = await environment.start({ argv: ['sleep', '1000'] });
    await sleepLong();
    expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
  });

  test('hears of the end of a lease that ran out meanwhile', async () => {
    await using environment = await connect();
    await using other = await connectDirectly();
    const process = await environment.start({ argv: ['sleep', '1000'], lease: 100 });
    proxy.interrupt();
    // Whoever is back before that keeps it alive.
    await expect.poll(() => other.kept()).toMatchObject([{ exited: true }]);
    proxy.restore();
    expect(await process.wait()).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' });
  });

  test('is told if there is a server, and no such process', async () => {
    await using environment = await connect();
    const process = await environment.start({ argv: ['sleep', '1000'], lease: 'kept' });
    await using another = await ServerProcess.start();
    proxy.leadTo(another.url);
    proxy.cut();
    expect(await process.wait()).toMatchObject({
      kind: 'contactLost',
      error: { code: 'contactLost', message: expect.stringContaining('found again') },
    });
  });
});

async function wholeOutput(process: ExecProcess): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const event of process.events()) {
    if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes are missing`);
    if (event.type === 'output') chunks.push(event.bytes);
  }
  return Buffer.concat(chunks).toString();
}

/** What somebody else sees of a process. */
async function storedOutput(processId: string): Promise<Buffer> {
  await using other = await connectDirectly();
  const viewer = await other.attach(processId, { mayPause: false });
  const { chunks } = await viewer.read({ waitMs: 1000 });
  return Buffer.concat(chunks.map(({ bytes }) => bytes));
}
