import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../../dist/bin/execwire.js', import.meta.url));

/** What Node loads before the first line runs: the entry and what it imports, directly or not. */
function loadedAtStart(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, 'utf8');
  const statements = text.matchAll(/\bimport(?:[\w$\s{},*]+from)?\s*"([^"\n]+)"/g);
  const targets = [...statements].map((match) => match[1] ?? '');
  seen.set(file, targets);
  for (const target of targets.filter((each) => each.startsWith('.'))) {
    loadedAtStart(join(dirname(file), target), seen);
  }
  return seen;
}

describe('the command line as it is installed', () => {
  // Every file takes about a millisecond before anything can be done; libraries of many files come along inside.
  test('loads few files and no library at start', () => {
    const loaded = loadedAtStart(entry);
    const libraries = [...loaded.values()]
      .flat()
      .filter((target) => !target.startsWith('.') && !target.startsWith('node:'));
    expect(libraries).toEqual([]);
    expect(loaded.get(entry)).toContain('node:fs');
    expect(loaded.size).toBeLessThan(20);
  });

  test('carries the notices of the libraries inside', () => {
    const notices = readFileSync(join(dirname(entry), 'LICENSES.txt'), 'utf8');
    for (const name of ['zod', 'ws', 'commander']) expect(notices).toMatch(new RegExp(`^${name}$`, 'm'));
  });
});
