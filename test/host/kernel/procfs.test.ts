import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  childrenOf,
  isDead,
  linkTarget,
  listPids,
  parseStat,
  readStat,
  statOf,
  threadsOf,
} from '../../../src/host/kernel/procfs.js';

/** What the kernel writes for a process with this name. */
function statText(name: string): string {
  const behind = Array.from({ length: 44 }, (_, index) => 100 + index);
  return `42 (${name}) S 7 8 9 ${behind.join(' ')}\n`;
}

describe('a stat line', () => {
  const names = ['sleep', 'a b', ')', '((', ') Z 1 1 1', 'x) R 1\nb', '\n', '', '(sd-pam)', '\u00ff)'];
  test.each(names)('is read right whatever the program is called: %j', (name) => {
    expect(parseStat(statText(name))).toEqual({
      state: 'S',
      parent: 7,
      group: 8,
      session: 9,
      flags: 102,
      startTick: 115,
    });
  });

  test('of a dead process says so', () => {
    const [dead, running] = ['1 (x) Z 1 1 1', '1 (Z) S 1 1 1'].map(parseStat);
    expect([dead, running].map((stat) => stat && isDead(stat))).toEqual([true, false]);
  });
});

describe.skipIf(process.platform !== 'linux')('a process', () => {
  test('is seen for what it is, however it calls itself', async () => {
    // The shell itself writes its name, since printf and exec are its own.
    const script = `printf 'a) Z 1\\n2 (b' > /proc/$$/comm; echo named; read -r line`;
    await using child = started('/bin/sh', ['-c', script]);
    await once(child.stdout, 'data');
    expect(linkTarget(`/proc/${child.pid}/exe`)).not.toBe('');
    expect(statOf(child.pid)).toMatchObject({
      state: expect.stringMatching(/^[RSD]$/) as string,
      parent: process.pid,
    });
    expect(threadsOf(process.pid).flatMap(childrenOf)).toContain(child.pid);
    expect(listPids()).toContain(String(child.pid));
  });

  test('that is gone is told from one that cannot be looked at', async () => {
    const child = started('/bin/true', []);
    await once(child.process, 'close');
    expect([readStat(child.pid), statOf(child.pid)]).toEqual(['gone', null]);
    expect([threadsOf(child.pid), linkTarget(`/proc/${child.pid}/exe`)]).toEqual([[], '']);
  });
});

function started(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return {
    process: child,
    pid: child.pid ?? expect.fail(),
    stdout: child.stdout,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
