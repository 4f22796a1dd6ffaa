// Needs: bwrap
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Environment, ExecProcess, ProcessEvent } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { printed } from '../harness/events.js';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { runUpgrade } from '../harness/upgrade.js';

const SLOW = { timeout: 90_000 };

function confined(server: DurableServer, workspace: TestFolder): Promise<Environment> {
  return openEnvironment(server.url, { sandbox: { policy: 'workspace-write', workspace: workspace.path } });
}

const statusOf = (pid: number): string => readFileSync(`/proc/${pid}/status`, 'utf8');
const nameOf = (pid: number): string | undefined => /^Name:\t(.*)$/m.exec(statusOf(pid))?.[1];
const isStopped = (pid: number): boolean => /^State:\tT/m.test(statusOf(pid));

type Replace = (server: DurableServer) => Promise<void> | void;
const REPLACEMENTS: readonly { how: string; replace: Replace }[] = [
  { how: 'dies', replace: (server) => server.kill() },
  {
    how: 'is replaced',
    replace: async (server) => expect(await runUpgrade(server.url)).toMatchObject({ code: 0 }),
  },
];

describe.each(REPLACEMENTS)('when the server $how, a program in a sandbox', ({ replace }) => {
  test('goes on: output, input, signals, exit code', SLOW, async () => {
    await using server = await DurableServer.start();
    using workspace = new TestFolder();
    await using environment = await confined(server, workspace);
    const start = { cwd: workspace.path };
    const cat = await environment.start({ ...start, argv: sh('cat; exit 12'), pipeStdin: true });
    const script = 'trap "echo caught; exit 8" INT; echo ready; while :; do sleep 0.05; done';
    const trap = await environment.start({ ...start, argv: sh(script), tty: true });
    const flood = await environment.start({ ...start, argv: sh('seq 1 200000; exit 2') });
    await printed(trap, 'ready');
    const numbers = flood.text();
    await replace(server);
    await cat.write('through the walls\n');
    await printed(cat, 'walls');
    await cat.closeStdin();
    expect(await cat.wait()).toMatchObject({ kind: 'exited', exitCode: 12 });
    await trap.signal('SIGINT');
    expect(await trap.wait()).toMatchObject({ kind: 'exited', exitCode: 8 });
    expect((await numbers).split('\n').length).toBe(200_001);
    expect(await flood.wait()).toMatchObject({ kind: 'exited', exitCode: 2 });
  });

  test('stays confined, also where something was replaced meanwhile', SLOW, async () => {
    await using server = await DurableServer.start();
    using workspace = new TestFolder();
    mkdirSync(workspace.file('.git'));
    writeFileSync(workspace.file('.git/config'), 'before');
    await using environment = await confined(server, workspace);
    const script = [
      'echo ready; read line',
      'echo x > .git/config; echo "git $?"',
      'echo x > /etc/execwire-test; echo "etc $?"',
      'echo x > inside; echo "inside $?"',
      'exit 3',
    ].join('\n');
    const program = await environment.start({ argv: sh(script), cwd: workspace.path, pipeStdin: true });
    await printed(program, 'ready');
    await replace(server);
    // Whoever replaces the directory takes its protection away, until the new server has put it back.
    rmSync(workspace.file('.git'), { recursive: true });
    mkdirSync(workspace.file('.git'));
    writeFileSync(workspace.file('.git/config'), 'after');
    // Its watches are there once it answers.
    expect(await (await environment.start({ argv: ['echo', 'up'], cwd: workspace.path })).text()).toBe(
      'up\n',
    );
    await protectedAgain(environment, program, workspace.path);
    await program.write('go\n');
    const events: ProcessEvent[] = [];
    for await (const event of program.events()) events.push(event);
    const said = events.flatMap((event) => (event.type === 'output' ? [Buffer.from(event.bytes)] : []));
    expect(Buffer.concat(said).toString()).toMatch(/git [12]\n[^]*etc [12]\n[^]*inside 0\n/);
    expect(events.at(-2)).toMatchObject({ type: 'exited', exitCode: 3, sandboxDenied: true });
    expect(readFileSync(workspace.file('.git/config'), 'utf8')).toBe('after');
  });

  test('goes on although it was stopped at that moment, to restore what protects it', SLOW, async () => {
    await using server = await DurableServer.start();
    using workspace = new TestFolder();
    mkdirSync(workspace.file('.git'));
    await using environment = await confined(server, workspace);
    const [mark, seconds] = [`execwire-stopped-${process.pid}`, `1${process.pid}`];
    const untilItSleeps = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done';
    const script = `sleep ${seconds} & ${untilItSleeps}; kill -STOP $!; while sleep 0.02; do echo tick; done`;
    const argv = ['/bin/sh', '-c', script, mark];
    const program = await environment.start({ argv, cwd: workspace.path });
    await printed(program, 'tick');
    const [shell = 0] = pidsWithArgument(mark).filter((pid) => nameOf(pid) === 'sh');
    rmSync(workspace.file('.git'), { recursive: true });
    while (!isStopped(shell)) await new Promise((resolve) => setTimeout(resolve, 1));
    await replace(server);
    await expect.poll(() => isStopped(shell), { timeout: 20_000 }).toBe(false);
    // What a program stops itself stays stopped.
    expect(pidsWithArgument(seconds).map(isStopped)).toEqual([true]);
    await program.terminate();
  });

  test('leaves nothing behind', SLOW, async () => {
    await using server = await DurableServer.start();
    using workspace = new TestFolder();
    const mark = `execwire-confined-${process.pid}`;
    {
      await using environment = await confined(server, workspace);
      const argv = [...sh('echo ready; sleep 1000 & setsid sleep 1000 & wait'), mark];
      const program = await environment.start({ argv, cwd: workspace.path });
      await printed(program, 'ready');
      await replace(server);
      expect(await program.terminate()).toBe(true);
      expect(await program.wait()).toMatchObject({ kind: 'signalled' });
    }
    await gone(mark);
    // Names that the policy blocks are free again a moment later.
    while (readdirSync(workspace.path).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});

test('a program in a sandbox ends with its keeper', SLOW, async () => {
  const server = await DurableServer.start();
  using workspace = new TestFolder();
  const mark = `execwire-confined-orphan-${process.pid}`;
  const sandbox = { policy: 'workspace-write', workspace: workspace.path } as const;
  const environment = await openEnvironment(server.url, { giveUpAfterMs: 1, sandbox });
  const argv = [...sh('echo ready; sleep 1000 & setsid sleep 1000 & wait'), mark];
  await printed(await environment.start({ argv, cwd: workspace.path }), 'ready');
  await server.keeper.stop('SIGKILL');
  await gone(mark);
  await environment.close().catch(() => undefined);
  await server[Symbol.asyncDispose]();
});

/** Resolves when the directory is read-only again for the program. */
async function protectedAgain(
  environment: Environment,
  { processId }: ExecProcess,
  workspace: string,
): Promise<void> {
  const row = (await environment.list()).find((each) => each.processId === processId);
  const mounts = (): string => {
    const [first] = readFileSync(`/proc/${row?.pid}/task/${row?.pid}/children`, 'utf8').split(' ');
    return readFileSync(`/proc/${first}/mounts`, 'utf8');
  };
  while (!new RegExp(` ${workspace}/\\.git \\S+ ro`).test(mounts()))
    await new Promise((resolve) => setTimeout(resolve, 10));
}
