import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TestFolder } from '../../harness/processes.js';

const built = fileURLToPath(new URL('../../../dist/host/sandbox/plan/placeholder.js', import.meta.url));

/** Holds a name with ever more free descriptors, and tells after each attempt what is there. */
const ATTEMPTS = `
  const { openSync, closeSync, readdirSync } = require('node:fs');
  import(${JSON.stringify(built)}).then(({ holdPlaceholder }) => {
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    const seen = [];
    for (let free = 1; free <= 8; free += 1) {
      closeSync(taken.pop());
      let outcome = 'refused';
      try {
        const placeholder = holdPlaceholder(process.argv[1] + '/.git');
        outcome = 'held';
        placeholder.release();
      } catch {}
      // A listing needs one of its own.
      const spare = taken.splice(-4);
      spare.forEach((fd) => closeSync(fd));
      seen.push({ outcome, left: readdirSync(process.argv[1]) });
      spare.forEach(() => taken.push(openSync('/dev/null')));
    }
    console.log(JSON.stringify(seen));
  });
`;

test('without descriptors, a name is refused and nothing is left of it', () => {
  using folder = new TestFolder();
  mkdirSync(folder.file('workspace'));
  const line = `ulimit -n 100; exec "$0" -e "$1" "$2"`;
  const said = execFileSync('sh', ['-c', line, process.execPath, ATTEMPTS, folder.file('workspace')], {
    encoding: 'utf8',
  });
  const seen = JSON.parse(said) as { outcome: string; left: string[] }[];
  expect(seen.map(({ left }) => left)).toEqual(seen.map(() => []));
  expect(new Set(seen.map(({ outcome }) => outcome))).toEqual(new Set(['refused', 'held']));
});
