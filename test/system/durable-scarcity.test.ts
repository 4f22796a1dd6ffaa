import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ExecProcess } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { DurableServer } from '../harness/durable-server.js';
import { printed } from '../harness/events.js';
import { nextDescriptor, openFiles, openFilesLimit, setLimit } from '../harness/limits.js';

const SLOW = { timeout: 90_000 };
const POLL_MS = 10;
/** Far more than there is room for, if each of them had its files open at once. */
const PROGRAMS = 30;
/** Of the next server beside those of the one before: what it opens for a moment while it begins. */
const ROOM = 10;

const sh = (script: string): { argv: string[]; cwd: string } => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '/',
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** What a process has open, as far as it begins like this. */
function opened(pid: number, beginning: string): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/${pid}/fd/${name}`);
      return target.startsWith(beginning) ? [target] : [];
    } catch {
      return [];
    }
  });
}

test('what a keeper without descriptors could not take is lost, and it says so', SLOW, async () => {
  await using server = await DurableServer.start();
  await using environment = await openEnvironment(server.url);
  const { pid } = server.keeper;
  const first = opened(pid, 'pipe:').length;
  const before = await environment.start({ ...sh('echo before; cat; sleep 1000'), pipeStdin: true });
  await printed(before, 'before');
  await until(() => opened(pid, 'pipe:').length === first + 3);
  const usual = openFilesLimit(pid);
  setLimit(pid, 'nofile', nextDescriptor(pid));
  const after = await environment.start(sh('echo after; sleep 1000'));
  await printed(after, 'after');
  // A keeper that has heard this has heard everything before it.
  await before.closeStdin();
  await until(() => opened(pid, 'pipe:').length === first + 2);
  setLimit(pid, 'nofile', usual);
  server.kill();
  expect(await after.wait()).toMatchObject({ kind: 'contactLost' });
  expect(await before.terminate()).toBe(true);
  expect(await before.wait()).toMatchObject({ kind: 'signalled' });
});

test('a keeper without descriptors starts the next server all the same', SLOW, async () => {
  await using server = await DurableServer.start();
  await using environment = await openEnvironment(server.url);
  const { pid } = server.keeper;
  const first = opened(pid, 'pipe:').length;
  const input = server.folder.file('state/input');
  const cat = await environment.start({ ...sh('cat; exit 5'), pipeStdin: true });
  await cat.write('before\n');
  await printed(cat, 'before');
  await until(() => opened(pid, 'pipe:').length === first + 3 && opened(pid, input).length === 1);
  setLimit(pid, 'nofile', nextDescriptor(pid));
  for (const line of ['once', 'and again']) {
    server.kill();
    await cat.write(`${line}\n`);
    await printed(cat, line);
  }
  await cat.closeStdin();
  expect(await cat.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
});

test(
  'a server that has no more descriptors than the one before continues with everything',
  SLOW,
  async () => {
    await using server = await DurableServer.start();
    await using environment = await openEnvironment(server.url);
    const spool = server.folder.file('state/spool');
    const programs: ExecProcess[] = [];
    for (let number = 0; number < PROGRAMS; number += 1)
      programs.push(await environment.start({ ...sh(`echo begun; cat; exit 7`), pipeStdin: true }));
    for (const program of programs) await printed(program, 'begun');
    // Files are closed when nothing is written to them.
    const { serverPid } = server;
    await until(() => opened(serverPid ?? -1, spool).length === 0);
    const limit = openFiles(serverPid ?? -1) + ROOM;
    execFileSync('prlimit', ['--pid', String(server.keeper.pid), `--nofile=${limit}:${limit}`]);
    server.kill();
    for (const program of programs) await program.closeStdin();
    for (const program of programs)
      expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 7 });
  },
);
