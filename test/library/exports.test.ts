import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Declarations, type Origin } from '../harness/declarations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { types: string; default: string }>;
};
const subpaths = Object.keys(exports).filter((name) => name !== './package.json');
const declarations = new Declarations();

function fileOf(subpath: string): string {
  return resolve(root, exports[subpath]?.types ?? '');
}

const keyOf = ({ file, name }: Origin): string => `${relative(resolve(root, 'dist/types'), file)}: ${name}`;

/** Names whose declarations an exported type mentions, and that nobody can import from there. */
function unreachable(subpath: string, elsewhere: Iterable<Origin>): string[] {
  const exported = [...declarations.exportsOf(fileOf(subpath)).values()];
  const known = new Set([...exported, ...elsewhere].map(keyOf));
  const missing = exported.flatMap((origin) =>
    declarations
      .mentions(origin)
      .filter((mentioned) => !known.has(keyOf(mentioned)))
      .map((mentioned) => `${origin.name} mentions ${keyOf(mentioned)}`),
  );
  return [...new Set(missing)].sort();
}

describe('what the package exports', () => {
  // The first one loads almost everything.
  test.each(subpaths)('%s exports these names', { timeout: 120_000 }, async (subpath) => {
    // Types and values; a change here is a change of the public interface.
    const names = [...declarations.exportsOf(fileOf(subpath)).keys()].sort();
    const values = (await import(resolve(root, exports[subpath]?.default ?? ''))) as object;
    expect({ names, values: Object.keys(values).sort() }).toMatchSnapshot();
  });

  test('every type that an exported type mentions can be named by users', () => {
    const all = subpaths.flatMap((subpath) => [...declarations.exportsOf(fileOf(subpath)).values()]);
    const missing = Object.fromEntries(subpaths.map((subpath) => [subpath, unreachable(subpath, all)]));
    expect(missing).toEqual(Object.fromEntries(subpaths.map((subpath) => [subpath, []])));
  });

  test('what the root mentions is exported by the root itself', () => {
    expect(unreachable('.', [])).toEqual([]);
  });
});
