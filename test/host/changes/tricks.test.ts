// Needs: bwrap, setpriv, python3, git
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { TestFolder } from '../../harness/processes.js';
import { identities } from '../sandbox/harness.js';

/** Each takes some programs, so only those run here that differ most. `npm run test:tricks` runs them all. */
const SHORT: readonly string[] = [
  'sed-in-place',
  'same-size-same-time',
  'remove-and-make-again',
  'move-directory',
  'file-becomes-directory',
  'directory-becomes-link',
  'hard-link-new',
  'hard-link-old',
  'extended-attributes',
  'extend-sparse',
  'mmap-write',
  'names-with-every-byte',
  'deep-tree',
  'chmod-nothing',
  'git-rebase',
  'root-mode',
];

const isComplete = process.env.EXECWIRE_ALL_TRICKS === '1';

/** The list of changes equals a comparison of trees, nothing changes before apply, and apply makes what the tool makes. */
test.each(identities)('everyday tools and tricks as $name', { timeout: 900_000 }, async ({ uid }) => {
  using folder = new TestFolder();
  const place = folder.file('tricks');
  mkdirSync(place);
  // A plain user must get there.
  chmodSync(dirname(place), 0o755);
  const drop = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  if (uid !== undefined) chownSync(place, uid, uid);
  const program = fileURLToPath(new URL('./tricks.mjs', import.meta.url));
  const [command = '', ...args] = [...drop, process.execPath, program, place, ...(isComplete ? [] : SHORT)];
  const child = spawn(command, args, {
    env: { ...process.env, HOME: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = (await text(child.stdout)).trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  expect(lines.length).toBeGreaterThanOrEqual(isComplete ? 60 : SHORT.length);
});
