// Needs: bwrap, setpriv, python3, git
import { expect, test } from 'vitest';
import { identities } from '../sandbox/harness.js';
import { linesAs } from './as-identity.js';

/** Each takes some programs, so only those run here that differ most. `npm run test:tricks` runs them all. */
const SHORT: readonly string[] = [
  'sed-in-place',
  'same-size-same-time',
  'remove-and-make-again',
  'remove-and-make-nested-again',
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
test.each(identities)('everyday tools and tricks as $name', { timeout: 900_000 }, async (identity) => {
  const lines = await linesAs(identity, './tricks.mjs', isComplete ? [] : SHORT);
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  expect(lines.length).toBeGreaterThanOrEqual(isComplete ? 60 : SHORT.length);
});
