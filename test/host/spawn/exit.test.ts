import { spawn as nodeSpawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { reapedElsewhere } from '../../../src/host/spawn/parent.js';
import { backends, kinds, shell, start } from './harness.js';

describe.each(backends)('ends over %s', (_name, spawn) => {
  test.each([0, 1, 42, 255])('exit code %i', async (code) => {
    const { seen } = shell(`exit ${code}`, {}, spawn);
    await seen.untilClosed();
    expect(seen.end).toMatchObject({ exitCode: code, signal: null });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGKILL', 137],
    ['SIGABRT', 134],
    ['SIGUSR1', 138],
  ] as const)('killed by %s', async (signal, exitCode) => {
    const { child, seen } = start(['sleep', '1000'], {}, spawn);
    expect(child.signalGroup(signal)).toBe(true);
    await seen.untilClosed();
    expect(seen.end).toMatchObject({ exitCode, signal });
    expect(child.signalGroup(signal)).toBe(false);
  });

  test('a signal reaches members of the group that outlived their leader', async () => {
    const { child, seen } = shell('sleep 1000 & exit 7', {}, spawn);
    await seen.untilExited();
    expect(child.survivors().length).toBe(1);
    expect(child.signalGroup('SIGTERM')).toBe(true);
    await seen.untilClosed();
    expect(seen.end?.exitCode).toBe(7);
    // A process closes its files a moment before it is gone.
    await expect.poll(() => child.survivors()).toEqual([]);
    expect(child.signalGroup('SIGTERM')).toBe(false);
  });

  test('an unknown signal reaches nobody', async () => {
    const { child, seen } = start(['sleep', '1000'], {}, spawn);
    expect(child.signalGroup('SIGNOTHING')).toBe(false);
    await child.killTree();
    await seen.untilClosed();
  });
});

test('what became of a process that had the same pid before is not its end', async () => {
  const { child, seen } = start(['cat'], {});
  reapedElsewhere(child.pid, 9);
  child.closeStdin();
  await seen.untilClosed();
  expect(seen.end).toMatchObject({ exitCode: 0, signal: null });
});

test.each([
  ['SIGTERM', 143],
  ['SIGKILL', 137],
] as const)('killed by %s on a terminal', async (signal, exitCode) => {
  const { seen } = shell(`kill -${signal.slice(3)} $$`, { terminal: { rows: 24, cols: 80 } });
  await seen.untilClosed();
  expect(seen.end).toMatchObject({ exitCode, signal });
});

test.each(kinds)('signals are neither blocked nor ignored in the child: %s', async (_name, terminal) => {
  const { seen } = start(['grep', '-E', '^Sig(Blk|Ign):', '/proc/self/status'], { terminal });
  await seen.untilClosed();
  expect(seen.text().trim().split(/\s+/)).toEqual([
    'SigBlk:',
    '0000000000000000',
    'SigIgn:',
    '0000000000000000',
  ]);
});

test('a thousand children at once', async () => {
  const children = Array.from({ length: 1000 }, () => start(['sleep', '1000']));
  for (const { child } of children) child.signalGroup('SIGTERM');
  for (const { seen } of children) {
    await seen.untilClosed();
    expect(seen.end?.signal).toBe('SIGTERM');
  }
});

test('children of node:child_process keep working beside ours', async () => {
  const codes: (number | null)[] = [];
  const rounds = Array.from({ length: 40 }, async (_, index) => {
    const ours = shell(`exit ${index}`);
    const theirs = nodeSpawn('/bin/sh', ['-c', `exit ${index}`]);
    const [code] = (await once(theirs, 'close')) as [number | null];
    codes.push(code);
    await ours.seen.untilClosed();
    expect(ours.seen.end?.exitCode).toBe(index);
  });
  await Promise.all(rounds);
  expect(codes.sort((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 40 }, (_, index) => index),
  );
});
