import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const bench = fileURLToPath(new URL('../../bench/', import.meta.url));
const LIMIT_MS = 60_000;

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

test.each([
  ['run.mjs', ['--only', 'echo', '--no-write']],
  ['distance/run.mjs', ['--short', '--no-write']],
  ['profile/run.mjs', ['echo']],
] as const)(
  'an interrupted bench leaves nothing behind: %s',
  { timeout: LIMIT_MS },
  async (program, args) => {
    using home = new TestFolder();
    const child = spawn(process.execPath, [bench + program, ...args], {
      env: { ...process.env, HOME: home.path },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    const pid = child.pid ?? -1;
    const scratch = (): string[] => (existsSync(home.file('.cache')) ? readdirSync(home.file('.cache')) : []);
    await expect
      .poll(() => scratch().length > 0 && childrenOf(pid).length > 0, { timeout: LIMIT_MS / 2 })
      .toBe(true);
    const started = childrenOf(pid);
    child.kill('SIGINT');
    expect(await exit).toEqual([130, null]);
    expect(scratch()).toEqual([]);
    expect(started.filter((each) => existsSync(`/proc/${each}`))).toEqual([]);
  },
);
