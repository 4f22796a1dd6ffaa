import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';

const program = fileURLToPath(new URL('../fixtures/leave-without-closing.mjs', import.meta.url));

test('a program that ends while a sandbox waits is not held up, and leaves no name behind', async () => {
  using workspace = new TestFolder();
  const { stdout } = await promisify(execFile)(process.execPath, [program, workspace.path]);
  expect(stdout).toBe('.agents .codex .git\n');
  expect(readdirSync(workspace.path)).toEqual([]);
});
