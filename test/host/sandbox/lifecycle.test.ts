import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { confine } from '../../../src/host/sandbox/index.js';
import { identities, Place, run, start, supportFor, workspacePolicy } from './harness.js';

const sh = (script: string) => ['sh', '-c', script];

/** Three ways to outlive a parent, each announced once it runs. */
const LINGERING = [
  'sleep 1000 & ',
  'setsid sh -c "sleep 1000 & sleep 1000" & ',
  'env -i setsid setsid sleep 1000 & ',
  'echo ready; wait',
].join('');

describe.each(identities)('the life of a confined process as $name', (identity) => {
  test('exit codes and output pass through', async () => {
    using place = new Place(identity);
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: sh('echo out; echo err >&2; exit 7'),
      cwd: place.workspace,
    });
    expect(finished).toEqual({
      code: 7,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      outcome: { kind: 'exited', exitCode: 7 },
    });
  });

  test('death by a signal is 128 + n', async () => {
    using place = new Place(identity);
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: sh('kill -USR1 $$'),
      cwd: place.workspace,
    });
    expect(finished).toMatchObject({ code: 138, outcome: { kind: 'exited', exitCode: 138 } });
  });

  test('a handler for SIGTERM runs', async () => {
    using place = new Place(identity);
    const running = await start(identity, workspacePolicy(place.workspace), {
      argv: sh('trap "echo handled; exit 9" TERM; echo ready; while :; do sleep 0.01; done'),
      cwd: place.workspace,
    });
    await running.said('ready');
    expect(await running.signal('SIGTERM')).toBe(true);
    expect(await running.done).toMatchObject({ code: 9, stdout: 'ready\nhandled\n' });
    expect(await running.signal('SIGTERM')).toBe(false);
  });

  test('a signal sent before the program exists still arrives', async () => {
    using place = new Place(identity);
    const running = await start(identity, workspacePolicy(place.workspace), {
      argv: ['sleep', '1000'],
      cwd: place.workspace,
    });
    expect(await running.signal('SIGTERM')).toBe(true);
    expect(await running.done).toMatchObject({ code: 143 });
  });

  test('killing it ends everything it started', async () => {
    using place = new Place(identity);
    const running = await start(identity, workspacePolicy(place.workspace), {
      argv: sh(LINGERING),
      cwd: place.workspace,
    });
    await running.said('ready');
    expect(await running.confinement.status?.kill()).toBe(true);
    // All of them hold our pipes: `done` waits for each.
    expect(await running.done).toMatchObject({ code: 137 });
  });

  test('it can be killed before it exists', async () => {
    using place = new Place(identity);
    const spec = { argv: ['sleep', '1000'], cwd: place.workspace };
    const all = await Promise.all(
      Array.from({ length: 10 }, () => start(identity, workspacePolicy(place.workspace), spec)),
    );
    const killed = await Promise.all(all.map(async ({ confinement }) => confinement.status?.kill()));
    expect(killed).not.toContain(false);
    await Promise.all(all.map(({ done }) => done));
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test('its exit ends what it left behind', async () => {
    using place = new Place(identity);
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: sh('setsid sleep 1000 & sleep 1000 & exit 3'),
      cwd: place.workspace,
    });
    expect(finished.code).toBe(3);
  });

  test('the death of whoever started it leaves nothing', async () => {
    using place = new Place(identity);
    const support = await supportFor(identity);
    const policy = workspacePolicy(place.workspace);
    const env = { PATH: '/usr/bin:/bin' };
    const confinement = confine(
      { argv: sh(LINGERING), cwd: place.workspace, env, terminal: false },
      { policy, support },
    );
    const stdio: (number | 'pipe' | 'ignore')[] = ['ignore', 'pipe', 'ignore'];
    for (const { childFd, fd } of confinement.inheritFds) stdio[childFd] = fd;
    const ids = identity.uid === undefined ? {} : { uid: identity.uid, gid: identity.uid };
    // The shell stands for the server: bubblewrap is its child, not ours.
    const server = spawn('/bin/sh', ['-c', '"$@"; :', 'server', ...confinement.argv], { stdio, env, ...ids });
    confinement.release();
    await once(server.stdout ?? server, 'data');
    server.kill('SIGKILL');
    await once(server, 'close');
    confinement.status?.over();
    expect(await confinement.status?.ended).toEqual({ kind: 'ended' });
  });

  test('no descriptor of the server reaches it', async () => {
    using place = new Place(identity);
    const directory = openSync('/', 'r');
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: sh('ls /proc/self/fd'),
      cwd: place.workspace,
    });
    expect(directory).toBeGreaterThan(2);
    // The fourth is the listing's own.
    expect(finished.stdout).toBe('0\n1\n2\n3\n');
  });

  test('the name a program sees can be another than its own', async () => {
    using place = new Place(identity);
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: ['sh', '-c', 'tr "\\0" "\\n" < /proc/$$/cmdline | head -1'],
      arg0: 'other name',
      cwd: place.workspace,
    });
    expect(finished.stdout).toBe('other name\n');
  });

  test('a program called like an option is a program', async () => {
    using place = new Place(identity);
    const program = join(place.workspace, '-v');
    writeFileSync(program, '#!/bin/sh\necho "$1"\n', { mode: 0o755 });
    const policy = workspacePolicy(place.workspace, { maxProcesses: 50 });
    const env = { PATH: `${place.workspace}:/usr/bin:/bin` };
    const { stdout } = await run(identity, policy, { argv: ['-v', 'said'], cwd: place.workspace, env });
    expect(stdout).toBe('said\n');
  });

  test('its environment is exactly what was given, and acts on nothing outside', async () => {
    using place = new Place(identity);
    const finished = await run(identity, workspacePolicy(place.workspace), {
      argv: ['/usr/bin/env'],
      cwd: place.workspace,
      env: { LD_PRELOAD: '/nowhere.so', A: 'x=y\nz', PATH: '/usr/bin' },
    });
    expect(finished.stdout.split('\n').sort()).toEqual([
      '',
      'A=x=y',
      'CODEX_SANDBOX_NETWORK_DISABLED=1',
      'LD_PRELOAD=/nowhere.so',
      'PATH=/usr/bin',
      `PWD=${place.workspace}`,
      'z',
    ]);
    // The loader inside complains once; around bubblewrap itself it would have complained before.
    expect(finished.stderr.match(/nowhere/g)).toHaveLength(1);
  });

  test('a hundred at once all run, and names they kept free are free again', async () => {
    using place = new Place(identity);
    const policy = workspacePolicy(place.workspace);
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        run(identity, policy, { argv: sh(`mkdir .git 2>&-; exit ${index}`), cwd: place.workspace }),
      ),
    );
    expect(all.map(({ code }) => code)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test('a name stays blocked in one sandbox when another that blocked it first ends', async () => {
    using place = new Place(identity);
    const policy = workspacePolicy(place.workspace);
    const first = await start(identity, policy, { argv: sh('echo ready; sleep 1000'), cwd: place.workspace });
    await first.said('ready');
    const second = await start(identity, policy, {
      argv: sh('echo ready; until [ -e go ]; do sleep 0.01; done; mkdir .git && echo created'),
      cwd: place.workspace,
    });
    await second.said('ready');
    await first.confinement.status?.kill();
    await first.done;
    mkdirSync(join(place.workspace, 'go'));
    expect((await second.done).stdout).toBe('ready\n');
    expect(existsSync(join(place.workspace, '.git'))).toBe(false);
  });
});
