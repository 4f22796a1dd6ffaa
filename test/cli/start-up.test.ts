import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** Modules and packages that loading these modules loads, without those imported on demand or for types alone. */
function loadedBy(entries: readonly string[]): string[] {
  const visited = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (visited.has(file)) return;
    visited.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gm,
    )) {
      if (target.startsWith('.')) visit(resolve(dirname(file), target.replace(/\.js$/, '.ts')));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  };
  for (const entry of entries) visit(join(src, entry));
  return [...packages, ...[...visited].map((file) => relative(src, file))];
}

const RUN = [
  'cli/main.ts',
  'cli/commands/run.ts',
  'cli/commands/run-attached.ts',
  'environment/open-environment.ts',
];

test('running something here loads neither schemas nor sockets', () => {
  const loaded = loadedBy([...RUN, 'environment/local.ts']);
  expect(loaded).toContain('host/local-process.ts');
  expect(loaded.filter((name) => !name.endsWith('.ts'))).toEqual(['commander']);
});

test('running something elsewhere does not load what serves or spawns here', () => {
  const loaded = loadedBy([...RUN, 'client/index.ts', 'environment/dial-environment.ts']);
  expect(loaded).toContain('client/process/remote-process.ts');
  const folders = new Set(loaded.map((name) => name.split('/')[0]));
  expect(folders.has('server')).toBe(false);
  expect(loaded.filter((name) => name.startsWith('host/'))).toEqual([
    'host/machine-info.ts',
    'host/kernel/package-file.ts',
    'host/kernel/random.ts',
  ]);
});
