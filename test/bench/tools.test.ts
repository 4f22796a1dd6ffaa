import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../bench/tools/${name}`, import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [path('run.mjs'), ...args]);

describe('the bench of the tools', () => {
  test('every task has a budget', async () => {
    const { tasks } = (await import(path('tasks/index.mjs'))) as { tasks: { name: string }[] };
    const budgets = JSON.parse(readFileSync(path('budgets.json'), 'utf8')) as { tasks: object };
    expect(Object.keys(budgets.tasks)).toEqual(tasks.map(({ name }) => name));
  });

  test('does tasks both ways and holds them to their budgets', async () => {
    const { stdout } = await run('--check', '--only', 'huge-json', '--only', 'rebase');
    expect(stdout).toMatch(/\| git rebase -i in an editor +\| +3 \|/);
    expect(stdout).toMatch(/\| together +\|/);
  });

  test('knows its tasks', async () => {
    const failure: unknown = await run('--only', 'nothing').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no task nothing.') });
  });
});
