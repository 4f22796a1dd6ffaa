import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { signalOne } from '../../testkit/signal-one.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name) && !/(^|\/)node_modules\//.test(name))
    .map((name) => join(folder, name));
}

test.each([-1, 0, 1, -4711, Number.NaN, 1.5, null, undefined])(
  'a signal to %s is refused: it would reach others',
  (pid) => {
    // Should it not be: nobody notices this one.
    expect(() => signalOne(pid, 'SIGWINCH')).toThrow('not a process to signal');
  },
);

test('no test signals a process without having looked whom it means', () => {
  const careless = ['test', 'testkit', 'bench', 'interop'].flatMap(sources).filter((file) => {
    const calls = readFileSync(join(root, file), 'utf8').match(/(?<![.\w])process\.kill\([^;]*/g) ?? [];
    // Asking whether somebody is there does no harm, and a group has been looked at.
    return calls.some((call) => !/, 0\)/.test(call) && !/kill\(-(pid|Number)/.test(call));
  });
  expect(careless).toEqual(['testkit/signal-one.mjs']);
});
