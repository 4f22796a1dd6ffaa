import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist');

/** Static and dynamic imports of a compiled module. */
function importsOf(file: string): { target: string; dynamic: boolean }[] {
  const text = readFileSync(file, 'utf8');
  const fixed = [
    ...text.matchAll(/^\s*(?:import|export)\b[^'"();]*?from\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm),
  ];
  const dynamic = [...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)];
  return [
    ...fixed.map((match) => ({ target: match[1] ?? match[2] ?? '', dynamic: false })),
    ...dynamic.map((match) => ({ target: match[1] ?? '', dynamic: true })),
  ];
}

test('the client can be loaded where there is no Node', () => {
  const visited = new Set<string>();
  const outside = new Set<string>();
  const visit = (file: string): void => {
    if (visited.has(file)) return;
    visited.add(file);
    for (const { target, dynamic } of importsOf(file)) {
      if (target.startsWith('.')) visit(resolve(dirname(file), target));
      else outside.add(`${dynamic ? 'dynamic ' : ''}${target}`);
    }
  };
  visit(join(dist, 'client', 'index.js'));
  const names = [...visited].map((file) => relative(dist, file));
  expect(names).toContain('transport/websocket-node.js');
  // Loaded only when a connection is dialled in Node, or a port is connected to.
  expect([...outside].sort()).toEqual([
    'dynamic node:net',
    'dynamic node:stream',
    'dynamic node:zlib',
    'dynamic ws',
    // The compiler's helpers, plain JavaScript; what we publish contains them.
    'tslib',
    'zod',
  ]);
  expect([...outside].filter((name) => name.startsWith('node:') || builtinModules.includes(name))).toEqual(
    [],
  );
});
