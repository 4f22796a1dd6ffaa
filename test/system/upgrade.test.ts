import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { printed } from '../harness/events.js';
import { TestFolder } from '../harness/processes.js';
import { runUpgrade } from '../harness/upgrade.js';

const SLOW = { timeout: 90_000 };
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

const shell = (script: string): { argv: string[]; cwd: string } => ({ argv: sh(script), cwd: '/' });

/** Puts another version into the first line of a journal, which is as long as the old one. */
function claimVersion(journal: string, version: number): void {
  const [header, ...rest] = readFileSync(journal, 'utf8').split('\n');
  const claimed = JSON.stringify({ version });
  expect(claimed.length).toBe(header?.length);
  writeFileSync(journal, [claimed, ...rest].join('\n'), { flag: 'r+' });
}

function versionOf(journal: string): unknown {
  return JSON.parse(readFileSync(journal, 'utf8').split('\n', 1)[0] ?? '');
}

describe('an upgrade', () => {
  test('loses no output, no input and no exit code', SLOW, async () => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const flood = await environment.start(shell('seq 1 400000; exit 3'));
    const cat = await environment.start({ ...shell('cat; exit 4'), pipeStdin: true });
    const terminal = await environment.start({
      ...shell('stty -echo; echo ready; cat'),
      tty: true,
    });
    await printed(terminal, 'ready');
    const [numbers, echo] = [flood.text(), cat.text()];
    const typed: string[] = [];
    for (let round = 1; round <= 3; round += 1) {
      const upgrade = runUpgrade(server.url);
      for (let line = 0; line < 50; line += 1) {
        typed.push(`${round}.${line}\n`);
        await cat.write(typed.at(-1) ?? '');
      }
      expect(await upgrade).toMatchObject({ code: 0, stderr: '' });
    }
    await cat.closeStdin();
    await terminal.write('still here\n');
    expect(await printed(terminal, 'still here')).toBe('ready\r\nstill here\r\n');
    expect(await echo).toBe(typed.join(''));
    expect(await numbers).toBe(`${Array.from({ length: 400_000 }, (_, index) => index + 1).join('\n')}\n`);
    expect(await flood.wait()).toMatchObject({ kind: 'exited', exitCode: 3 });
    expect(await cat.wait()).toMatchObject({ kind: 'exited', exitCode: 4 });
  });

  test('refuses no client that comes meanwhile', SLOW, async () => {
    await using server = await DurableServer.start();
    let isOver = false;
    const refusals: unknown[] = [];
    const comers = Array.from({ length: 4 }, async () => {
      for (let greeted = 0; ; greeted += 1) {
        if (isOver && greeted > 0) return;
        const { client } = await dialWire(server.url);
        client.handshake().then(
          () => client.close(),
          (error: unknown) => refusals.push(error),
        );
      }
    });
    for (let round = 0; round < 3; round += 1) expect((await runUpgrade(server.url)).code).toBe(0);
    isOver = true;
    await Promise.all(comers);
    expect(refusals.length).toBe(0);
  });

  test('takes other options, over any listener', SLOW, async () => {
    using folder = new TestFolder();
    const durable = ['--durable', folder.file('state'), '--listen', `unix://${folder.file('socket')}`];
    await using server = await ServerProcess.start({ args: durable });
    await using environment = await openEnvironment(server.url);
    const cat = await environment.start({ ...shell('cat'), pipeStdin: true });
    expect(await runUpgrade(server.url, ['--', ...durable, '--max-sessions', '1'])).toMatchObject({
      code: 0,
    });
    await cat.write('after\n');
    await printed(cat, 'after');
    // There is room for one session only, which is that of the program.
    const { client } = await dialWire(server.url);
    expect(await client.refusal('initialize', { clientName: 'test' })).toBe(-32001);
  });
});

describe('an upgrade is refused, and the old server goes on,', () => {
  const cases = [
    { why: 'if the new one is told to use another directory', more: ['--', '--durable', '/tmp/other'] },
    { why: 'if it is told to listen elsewhere', more: ['--listen', 'ws://127.0.0.1:1'] },
    { why: 'if it does not know an option', more: ['--no-such-option'] },
    {
      why: 'if it lacks what an option names',
      more: ['--ws-auth', 'capability-token', '--ws-token-file', '/no'],
    },
  ];
  test.each(cases)('$why', SLOW, async ({ more }) => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const cat = await environment.start({ ...shell('cat'), pipeStdin: true });
    const pid = server.serverPid;
    const line = more[0] === '--' ? more : ['--', '--durable', server.folder.file('state'), ...more];
    const { code, stderr } = await runUpgrade(server.url, line);
    expect(code).toBe(1);
    expect(stderr).toContain('execwire: The new server could not take over: ');
    expect(server.serverPid).toBe(pid);
    await cat.write('as before\n');
    await printed(cat, 'as before');
  });

  test('if the new version crashes at once, or knows less than the state says', SLOW, async () => {
    await using server = await DurableServer.start();
    const pid = server.serverPid;
    const broken = await runUpgrade(server.url, ['--program', fixture('dies-at-once.cjs')]);
    expect(broken.stderr).toContain('the new server ended before it was ready (signal 6)');
    claimVersion(server.folder.file('state/journal'), 9);
    const newer = await runUpgrade(server.url);
    expect(newer.stderr).toContain('has version 9, and this release knows 1 to 4');
    expect(server.serverPid).toBe(pid);
    claimVersion(server.folder.file('state/journal'), 4);
    expect(await runUpgrade(server.url, ['--dry-run'])).toMatchObject({ code: 0 });
    expect(server.serverPid).toBe(pid);
  });

  test('if another one is under way', SLOW, async () => {
    await using server = await DurableServer.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    const first = client.ask('server/upgrade', {});
    expect(await client.refusal('server/upgrade', {})).toBe(-32600);
    expect((await first).result).toEqual({ generation: 2 });
  });
});

test('a new version that dies when it takes over is replaced by the old one', SLOW, async () => {
  await using server = await DurableServer.start();
  await using environment = await openEnvironment(server.url);
  const cat = await environment.start({ ...shell('cat; exit 6'), pipeStdin: true });
  const { code, stderr } = await runUpgrade(server.url, ['--program', fixture('dies-taking-over.cjs')]);
  expect(code).toBe(1);
  expect(stderr).toBe(
    'execwire: The upgrade failed: the new server died before it could be used (signal 6). ' +
      'The previous server was restarted.\n',
  );
  await cat.write('rolled back\n');
  await printed(cat, 'rolled back');
  await cat.closeStdin();
  expect(await cat.wait()).toMatchObject({ exitCode: 6 });
  expect(await runUpgrade(server.url)).toMatchObject({ code: 0 });
});

test(
  'the state of the version before is continued, and rewritten only when there is no way back',
  SLOW,
  async () => {
    await using server = await DurableServer.start();
    const journal = server.folder.file('state/journal');
    await using environment = await openEnvironment(server.url);
    const cat = await environment.start({ ...shell('cat'), pipeStdin: true });
    claimVersion(journal, 1);
    expect(await runUpgrade(server.url)).toMatchObject({ code: 0 });
    await cat.write('still the same\n');
    await printed(cat, 'still the same');
    expect(versionOf(journal)).toEqual({ version: 4 });
  },
);

describe('who may not ask for an upgrade', () => {
  test('whoever has a share', SLOW, async () => {
    await using server = await DurableServer.start();
    const { client: owner } = await dialWire(server.url);
    await owner.handshake();
    await owner.call('process/start', startParams('job', ['sleep', '1000'], { lease: 'kept' }));
    const { token } = await owner.call('process/share', { processId: 'job' });
    const headers = { authorization: `Bearer ${String(token)}` };
    const { client: viewer } = await dialWire(server.url, { headers });
    const { capabilities } = await viewer.call('initialize', { clientName: 'viewer' });
    expect(capabilities).not.toHaveProperty('upgrade');
    viewer.send('{"method":"initialized","params":{}}');
    for (const method of ['server/upgrade', 'server/status'])
      expect((await viewer.ask(method, {})).error?.data).toMatchObject({ code: 'viewOnly' });
    // The share itself goes on.
    expect(await runUpgrade(server.url)).toMatchObject({ code: 0 });
    const { client: again } = await dialWire(server.url, { headers });
    await again.handshake();
    await again.call('process/attach', { processId: 'job', keyboard: 'view' });
    const { shares } = await (await reconnected(server.url)).call('process/shares', {});
    expect(shares).toMatchObject([{ processId: 'job' }]);
  });

  test('anybody, of a server whose programs end with it', SLOW, async () => {
    await using server = await ServerProcess.start();
    expect(await runUpgrade(server.url)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'execwire: This server cannot be replaced while it runs. Start it with `execwire serve --durable DIR`.\n',
    });
    const { client } = await dialWire(server.url);
    await client.handshake();
    expect((await client.ask('server/upgrade', {})).error?.data).toMatchObject({
      code: 'upgradeUnavailable',
    });
  });
});

async function reconnected(url: string): Promise<Awaited<ReturnType<typeof dialWire>>['client']> {
  const { client } = await dialWire(url);
  await client.handshake();
  return client;
}
