import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { InstalledCopy } from '../harness/installed-copy.js';
import { gone } from '../harness/processes.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';

/** Nobody has it. Only root can become somebody else; everybody else is a plain user already. */
const UID = process.getuid?.() === 0 ? 54_321 : process.getuid?.();
const GID = process.getuid?.() === 0 ? 54_321 : process.getgid?.();

const BECOME =
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${UID}`, `--regid=${GID}`, '--clear-groups'] : [];

describe('a server of a plain user', () => {
  const copy = new InstalledCopy();
  const home = mkdtempSync(join(tmpdir(), 'execwire-user-'));
  let server: ChildProcess;
  let client: WireClient;
  let hangUp: () => void;

  beforeAll(async () => {
    const own = join(home, 'own');
    mkdirSync(own);
    for (const each of [home, own]) chownSync(each, UID ?? 0, GID ?? 0);
    const [program, ...args] = [...BECOME, process.execPath, copy.bin, 'serve', '--log-level', 'silent'];
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home };
    server = spawn(program, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
    if (!server.stdout) throw new Error('the server has no stdout');
    const [url] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const dialled = await dialWire(url);
    client = dialled.client;
    hangUp = () => dialled.socket.terminate();
    await client.handshake();
  });
  afterAll(async () => {
    hangUp();
    const exit = once(server, 'exit');
    server.kill('SIGTERM');
    await exit;
    copy[Symbol.dispose]();
    rmSync(home, { recursive: true, force: true });
  });

  async function run(id: string, script: string, more: Record<string, unknown> = {}): Promise<string> {
    const params = { cwd: `file://${home}`, ...more };
    const started = await client.ask('process/start', startParams(id, sh(script), params));
    if (started.error) return `refused: ${started.error.data?.code}`;
    await client.closedEvents(id);
    return client.output(id).toString();
  }

  test('runs commands as that user', async () => {
    expect(await run('who', 'id -u; id -g; echo hi >&2; echo new > own/file; cat own/file')).toContain(
      `${UID}\n${GID}\n`,
    );
    expect(client.output('who').toString()).toContain('new\n');
  });

  test('has terminals of its own', async () => {
    expect(await run('screen', 'test -t 0 && stty size && stat -c %u $(tty)', { tty: true })).toBe(
      `24 80\r\n${UID}\r\n`,
    );
  });

  test('looks past a directory of the PATH that it may not enter', async () => {
    const [closed, tools] = [join(home, 'closed'), join(home, 'tools')];
    mkdirSync(closed);
    mkdirSync(tools);
    chmodSync(tools, 0o755);
    writeFileSync(join(tools, 'data'), 'data', { mode: 0o644 });
    // Its owner, too, is kept out.
    chmodSync(closed, 0o000);
    onTestFinished(() => chmodSync(closed, 0o700));
    const PATH = `${closed}:${tools}:/usr/bin:/bin`;
    const start = (name: string) => client.ask('process/start', startParams(name, [name], { env: { PATH } }));
    expect((await start('no-such-program')).error?.data).toMatchObject({ reason: 'programNotFound' });
    expect((await start('data')).error?.data).toMatchObject({ reason: 'notExecutable' });
    expect((await start('true')).error).toBeUndefined();
  });

  test('ends whole trees', async () => {
    const mark = `plain-user-${process.pid}`;
    const script = `setsid sh -c 'sleep 1000; :' ${mark} & (setsid sh -c 'sleep 1000; :' ${mark} &); echo up; wait`;
    await client.call('process/start', startParams('tree', sh(script), { cwd: `file://${home}` }));
    await client.until(() => client.output('tree').toString() === 'up\n');
    await client.call('process/terminate', { processId: 'tree' });
    await gone(mark);
  });

  test('confines, or refuses where the kernel lets a plain user make no namespaces', async () => {
    const special = (kind: string, access: string): object => ({
      path: { type: 'special', value: { kind } },
      access,
    });
    const entries = [special('root', 'read'), special('project_roots', 'write')];
    const own = `file://${home}/own`;
    const permissions = {
      type: 'managed',
      file_system: { type: 'restricted', entries },
      network: 'restricted',
    };
    const sandbox = { permissions, cwd: own, workspaceRoots: [own] };
    const script = 'id -u; for d in own .; do touch $d/new 2>/dev/null && echo yes || echo no; done';
    const said = await run('confined', script, { sandbox });
    expect([`${UID}\nyes\nno\n`, 'refused: sandboxUnavailable']).toContain(said);
    const screen = await run('screen2', 'stty size; id -u', { sandbox, tty: true });
    expect([`24 80\r\n${UID}\r\n`, 'refused: sandboxUnavailable']).toContain(screen);
  });

  test('touches files as that user', async () => {
    const path = `file://${home}/own/written`;
    await client.call('fs/writeFile', { path, dataBase64: Buffer.from('x').toString('base64') });
    expect(await client.call('fs/readFile', { path })).toEqual({ dataBase64: 'eA==' });
    expect(await run('owner', 'stat -c %u own/written')).toBe(`${UID}\n`);
  });
});

describe('a user without an account and without HOME', () => {
  const copy = new InstalledCopy();
  afterAll(() => copy[Symbol.dispose]());

  test.each([
    ['run', ['run', '--', 'id', '-u'], `${UID}\n`],
    ['env list', ['env', 'list', '--json'], expect.stringContaining('local')],
    ['doctor', ['doctor'], expect.stringMatching(/^server start +ok /m)],
  ])('can use %s', async (_name, command, expected) => {
    const [program = '', ...args] = [...BECOME, process.execPath, copy.bin, ...command];
    const env = { PATH: '/usr/bin:/bin' };
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: '/', env });
    expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: '' });
  });
});
