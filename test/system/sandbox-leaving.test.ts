// Needs: bwrap
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

async function run(name: string, ...args: string[]): Promise<string> {
  const program = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  return (await promisify(execFile)(process.execPath, [program, ...args])).stdout;
}

test.each([[[]], [['closing']]])(
  'a program that ends while a sandbox waits leaves no name behind: %s',
  async (how) => {
    using workspace = new TestFolder();
    expect(await run('leave-without-closing.mjs', workspace.path, ...how)).toBe('.agents .codex .git\n');
    expect(readdirSync(workspace.path)).toEqual([]);
  },
);

test('a program that becomes another user while a sandbox waits starts nothing as the one it was', async () => {
  using workspace = new TestFolder();
  chmodSync(workspace.path, 0o777);
  const uid = process.getuid?.() === 0 ? 65_534 : (process.getuid?.() ?? 0);
  expect(await run('become-another.mjs', workspace.path, String(uid))).toBe(`0027\n${uid}\n`);
});
