import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gone, stubbornTree } from '../harness/processes.js';
import { makeLastingFolder } from '../../testkit/lasting-folder.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const special = (kind: string, access: string, subpath?: string): object => ({
  path: { type: 'special', value: { kind, ...(subpath ? { subpath } : {}) } },
  access,
});

let server: ServerProcess;
let client: WireClient;
let outside: string;
let workspace: string;
let sandbox: object;

beforeAll(async () => {
  server = await ServerProcess.start();
  ({ client } = await dialWire(server.url));
  await client.handshake();
  outside = makeLastingFolder('sandbox');
  workspace = join(outside, 'workspace');
  mkdirSync(join(workspace, '.git'), { recursive: true });
  writeFileSync(join(outside, 'kept'), 'old');
  symlinkSync(join(outside, 'kept'), join(workspace, 'link'));
  const entries = [
    special('root', 'read'),
    special('project_roots', 'write'),
    special('slash_tmp', 'write'),
    special('project_roots', 'read', '.git'),
  ];
  sandbox = {
    permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
    cwd: pathToFileURL(workspace).href,
    workspaceRoots: [pathToFileURL(workspace).href],
    windowsSandboxLevel: 'disabled',
  };
});
afterAll(async () => {
  await server.stop();
  rmSync(outside, { recursive: true, force: true });
});

let count = 0;

/** Runs a script under the policy and tells what became of it. */
async function confined(
  script: string,
  more: Record<string, unknown> = {},
): Promise<{ text: string; exit: Record<string, unknown> }> {
  count += 1;
  const id = `p${count}`;
  const params = startParams(id, sh(script), { cwd: pathToFileURL(workspace).href, sandbox, ...more });
  expect(await client.call('process/start', params)).toEqual({ processId: id, sandboxType: 'linuxSeccomp' });
  const events = await client.closedEvents(id);
  const exit = events.find(({ method }) => method === 'process/exited')?.params ?? {};
  return { text: outputOf(events).toString(), exit };
}

describe('processes under a policy', () => {
  test('write inside the workspace, not outside of it, nor through a link, nor to what is protected', async () => {
    const { text, exit } = await confined('echo new > file && cat file');
    expect({ text, exit }).toMatchObject({ text: 'new\n', exit: { exitCode: 0, sandboxDenied: false } });
    for (const target of [join(outside, 'kept'), 'link', '.git/config', '../kept', '/proc/self/root/etc/x']) {
      const attempt = await confined(`echo new > ${target}`);
      expect({ target, ...attempt.exit }).toMatchObject({ target, sandboxDenied: true });
      expect(attempt.exit.exitCode).not.toBe(0);
    }
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('old');
    expect(existsSync(join(workspace, '.git/config'))).toBe(false);
  });

  test('reach no network, and are told so', async () => {
    const listener = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => {
      listener.listen(0, '127.0.0.1', resolve);
    });
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { text } = await confined(
      `echo $CODEX_SANDBOX_NETWORK_DISABLED; bash -c 'cat < /dev/tcp/127.0.0.1/${port}' 2>/dev/null || echo refused`,
    );
    expect(text).toBe('1\nrefused\n');
    listener.close();
  });

  test('an ordinary failure is not taken for a denial', async () => {
    expect((await confined('exit 3')).exit).toMatchObject({ exitCode: 3, sandboxDenied: false });
    expect((await confined('cat no-such-file')).exit).toMatchObject({ exitCode: 1, sandboxDenied: false });
  });

  test('exit codes and signals pass through; traps run', async () => {
    expect((await confined('kill -TERM $$')).exit).toMatchObject({ exitCode: 143 });
    const id = 'trapped';
    const script = 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
    await client.call(
      'process/start',
      startParams(id, sh(script), { cwd: pathToFileURL(workspace).href, sandbox }),
    );
    await client.until(() => client.output(id).toString().includes('ready'));
    await client.call('process/signal', { processId: id, signal: 'SIGTERM' });
    const events = await client.closedEvents(id);
    expect(outputOf(events).toString()).toContain('caught');
    expect(events.find(({ method }) => method === 'process/exited')?.params).toMatchObject({ exitCode: 9 });
  });

  test('a terminal has its size and ^C reaches the foreground job', async () => {
    const id = 'terminal';
    const script = 'stty size; trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.05; done';
    await client.call(
      'process/start',
      startParams(id, sh(script), { cwd: pathToFileURL(workspace).href, sandbox, tty: true }),
    );
    await client.until(() => client.output(id).toString().includes('ready'));
    await client.call('process/write', {
      processId: id,
      chunk: Buffer.from('\x03').toString('base64'),
      writeId: '1',
    });
    const events = await client.closedEvents(id);
    expect(outputOf(events).toString()).toMatch(/24 80[^]*caught/);
    expect(events.find(({ method }) => method === 'process/exited')?.params).toMatchObject({ exitCode: 5 });
  });

  test('a missing program and a missing directory are the same errors as without a policy', async () => {
    const missing = await client.ask(
      'process/start',
      startParams('m', ['no-such-program'], { cwd: pathToFileURL(workspace).href, sandbox }),
    );
    expect(missing.error).toMatchObject({
      code: -32603,
      data: { code: 'spawnFailed', reason: 'programNotFound' },
    });
    const nowhere = await client.ask(
      'process/start',
      startParams('m', ['true'], { cwd: 'file:///no/such/folder', sandbox }),
    );
    expect(nowhere.error).toMatchObject({
      code: -32603,
      data: { code: 'spawnFailed', reason: 'cwdNotFound' },
    });
  });

  test('terminate and time-outs end everything inside', async () => {
    for (const how of ['terminate', 'timeout']) {
      const mark = `mark-${how}-${process.pid}-${Date.now()}`;
      const ready = join(workspace, `ready-${how}`);
      const timeout = how === 'timeout' ? { timeoutMs: 3_000 } : {};
      const script = stubbornTree(mark, ready);
      await client.call(
        'process/start',
        startParams(how, sh(script), { cwd: pathToFileURL(workspace).href, sandbox, ...timeout }),
      );
      if (how === 'terminate') {
        while (!existsSync(ready)) await client.call('environment/status');
        await client.call('process/terminate', { processId: how });
      }
      await client.closedEvents(how);
      await gone(mark);
    }
  });
});

describe('files under a policy', () => {
  const at = (name: string): string => pathToFileURL(join(outside, name)).href;
  const data = Buffer.from('new').toString('base64');

  test('obey it as processes do', async () => {
    expect(
      await client.call('fs/writeFile', { path: at('workspace/written'), dataBase64: data, sandbox }),
    ).toEqual({});
    expect(readFileSync(join(workspace, 'written'), 'utf8')).toBe('new');
    for (const name of ['kept', 'workspace/link', 'workspace/.git/config', 'elsewhere']) {
      const { error } = await client.ask('fs/writeFile', { path: at(name), dataBase64: data, sandbox });
      expect({ name, code: error?.code }).toEqual({ name, code: -32603 });
      expect(error?.message).toMatch(/Read-only file system/);
    }
    expect(await client.call('fs/readFile', { path: at('kept'), sandbox })).toEqual({
      dataBase64: Buffer.from('old').toString('base64'),
    });
    expect(await client.refusal('fs/readFile', { path: at('missing'), sandbox })).toBe(-32004);
    expect(await client.refusal('fs/remove', { path: at('kept'), sandbox })).toBe(-32603);
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('old');
  });

  test('can be streamed', async () => {
    await client.call('fs/open', { handleId: 'w', path: at('workspace/streamed'), mode: 'replace', sandbox });
    await client.call('fs/writeBlock', { handleId: 'w', offset: 0, chunk: data });
    await client.call('fs/close', { handleId: 'w' });
    await client.call('fs/open', { handleId: 'r', path: at('workspace/streamed'), sandbox });
    expect(await client.call('fs/readBlock', { handleId: 'r', offset: 0, len: 100 })).toEqual({
      chunk: data,
      eof: true,
    });
    await client.call('fs/close', { handleId: 'r' });
    expect(
      await client.refusal('fs/open', { handleId: 'x', path: at('new'), mode: 'replace', sandbox }),
    ).toBe(-32603);
  });

  test('a directory swapped for a link to the outside does not help', async () => {
    mkdirSync(join(workspace, 'dir'), { recursive: true });
    rmSync(join(workspace, 'dir'), { recursive: true });
    symlinkSync(outside, join(workspace, 'dir'));
    expect(
      await client.refusal('fs/writeFile', { path: at('workspace/dir/kept'), dataBase64: data, sandbox }),
    ).toBe(-32603);
    expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('old');
  });
});
