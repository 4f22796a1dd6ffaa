import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TestFolder } from './processes.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SECOND_LOOK = `${root}/scripts/second-look.mjs`;
const VITEST = `${root}/node_modules/vitest/vitest.mjs`;

const CONFIG = `export default { test: {
  include: ['*.test.js'], maxWorkers: 1, reporters: ['default', '${root}/test/harness/failed-files-reporter.ts'],
} };`;
const PASSES = `test('passes', () => {});`;
const FAILS = `test('fails', () => expect(1).toBe(2));`;
const FAILS_ONCE = `test('fails once', () => {
  const seen = existsSync(import.meta.url.slice(7) + '.seen');
  writeFileSync(import.meta.url.slice(7) + '.seen', '');
  expect(seen).toBe(true);
});`;
const FAILS_OUTSIDE = `test('passes too early', () => void setTimeout(() => { throw new Error('late'); }));
test('waits', () => new Promise((resolve) => setTimeout(resolve, 100)));`;

/** Runs a suite of these files, each of which holds this text. */
async function look(files: Record<string, string>): Promise<{ code: number; stdout: string }> {
  using folder = new TestFolder();
  symlinkSync(`${root}/node_modules`, folder.file('node_modules'));
  writeFileSync(folder.file('vitest.config.js'), CONFIG);
  const imports = `import { existsSync, writeFileSync } from 'node:fs';\nimport { expect, test } from 'vitest';\n`;
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), imports + text);
  return await new Promise((resolve) => {
    const command = [SECOND_LOOK, process.execPath, VITEST, 'run'];
    execFile(process.execPath, command, { cwd: folder.path }, (error, stdout) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout }),
    );
  });
}

describe('a second look at failed tests', { timeout: 120_000 }, () => {
  test('passes what fails only once, and names it', async () => {
    const { code, stdout } = await look({ 'a.test.js': PASSES, 'b.test.js': `${PASSES}\n${FAILS_ONCE}` });
    expect(stdout).toContain('Unsteady, passed the second time:\n  b.test.js > fails once\n');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('3 passed, 0 failed, 0 skipped');
    expect(code).toBe(0);
  });

  test.each([
    ['what fails again', { 'a.test.js': FAILS }],
    ['a file that cannot be read', { 'a.test.js': 'no program' }],
    ['an error outside of any test', { 'a.test.js': FAILS_OUTSIDE }],
    ['many files', Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`${name}.test.js`, FAILS_ONCE]))],
  ])('does not pass %s', async (_what, files) => {
    const { code, stdout } = await look(files);
    expect(code).toBe(1);
    expect(stdout).not.toContain('Unsteady');
  });
});
