import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface Entry {
  readonly integrity?: string;
  readonly resolved?: string;
}

function entriesOf(file: string): [string, Entry][] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> };
  // The entry without a name is the project itself.
  return Object.entries(packages).filter(([name]) => name !== '');
}

describe.each(['package-lock.json', 'interop/package-lock.json', 'scripts/api-reference/package-lock.json'])(
  '%s',
  (file) => {
    const entries = entriesOf(file);

    test('has a hash for every package, on every platform', () => {
      const unchecked = entries.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
      expect(unchecked.map(([name]) => name)).toEqual([]);
    });

    test('names no host to fetch from', () => {
      expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    });
  },
);

test('npm leaves the host out for everybody', () => {
  const config = readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8');
  expect(config).toMatch(/^omit-lockfile-registry-resolved=true$/m);
});
