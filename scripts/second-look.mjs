// Runs a command that ends with a run of tests. What fails there is run once more by itself, on an otherwise idle machine.
//   node scripts/second-look.mjs npm run check
// One of thousands of tests with real processes takes a stall of a shared machine for a failure now and then; a bug fails again.
// Tests that pass the second time are listed: they, or what they test, still need mending.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** More than this is no accident. */
const MAX_FILES = 3;
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

const [command, ...args] = process.argv.slice(2);
if (command === undefined)
  throw new Error('Which command? For example: node scripts/second-look.mjs npm test');
const folder = mkdtempSync(join(tmpdir(), 'execwire-second-look-'));
try {
  process.exitCode = look(join(folder, 'failed.json'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} list where the tests write which files failed */
function look(list) {
  const first = run(command ?? '', args, { EXECWIRE_FAILED_FILES: list });
  if (first === 0 || !existsSync(list)) return first;
  const { config, files, tests, passed, skipped } = JSON.parse(readFileSync(list, 'utf8'));
  if (files.length === 0 || files.length > MAX_FILES) return first;
  console.log(`\nOnce more, by themselves:\n  ${tests.join('\n  ')}\n`);
  const second = run(process.execPath, [VITEST, 'run', '--config', config, '--maxWorkers=1', ...files]);
  if (second !== 0) return second;
  console.log(`\nUnsteady, passed the second time:\n  ${tests.join('\n  ')}\n`);
  console.log(`${passed + tests.length} passed, 0 failed, ${skipped} skipped`);
  return 0;
}

/**
 * @param {string} program
 * @param {readonly string[]} words
 * @param {Record<string, string>} more variables
 */
function run(program, words, more = {}) {
  const { status, error } = spawnSync(program, words, { stdio: 'inherit', env: { ...process.env, ...more } });
  if (error) throw error;
  return status ?? 1;
}
