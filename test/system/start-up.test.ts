import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../../dist/bin', import.meta.url));
const loader = join(folder, 'loader.cjs');

/** What was loaded to run a command line: chunks, whether their code was there, and Node's own modules. */
function loadedFor(args: string[]): { chunks: { name: string; found: boolean }[]; own: string[] } {
  const report = fileURLToPath(new URL('../fixtures/report-loaded.cjs', import.meta.url));
  const env = { ...process.env, EXECWIRE_HOME: '/nonexistent' };
  return JSON.parse(execFileSync(process.execPath, [report, loader, ...args], { encoding: 'utf8', env }));
}

describe('the command line as it is installed', () => {
  // Every file takes its time before anything can be done, and so does compiling it.
  test('loads few files, and none that it has to compile', () => {
    const { chunks, own } = loadedFor(['run', '-e', 'local', '--', 'true']);
    expect(chunks.length).toBeLessThan(22);
    expect(chunks.filter(({ found }) => !found)).toEqual([]);
    // Cryptography takes longer to load than a short command to run.
    expect(own).not.toContain('NativeModule crypto');
  });

  test('libraries that every command needs come along inside', () => {
    const [entry] = readdirSync(folder).filter((name) => /^execwire-.*\.cjs$/.test(name));
    const text = readFileSync(join(folder, entry ?? ''), 'utf8');
    const required = [...text.matchAll(/\brequire\(["'`]([^"'`]+)["'`]\)/g)].map(([, id]) => id ?? '');
    const libraries = required.filter(
      (id) => !id.startsWith('.') && !id.startsWith('node:') && !builtinModules.includes(id),
    );
    expect(required.length).toBeGreaterThan(0);
    expect(libraries).toEqual([]);
  });

  test('imports nothing: code taken from the build could not', () => {
    const importing = readdirSync(folder)
      .filter((name) => name.endsWith('.cjs') && name !== 'loader.cjs')
      .filter((name) => /\bimport\(/.test(readFileSync(join(folder, name), 'utf8')));
    expect(importing).toEqual([]);
  });

  test('carries the notices of the libraries inside', () => {
    const notices = readFileSync(join(folder, 'LICENSES.txt'), 'utf8');
    for (const name of ['zod', 'ws', 'commander', 'jose'])
      expect(notices).toMatch(new RegExp(`^${name}$`, 'm'));
  });
});
