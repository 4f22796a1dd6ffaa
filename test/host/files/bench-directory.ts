import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory without links in its path, removed at the end. In memory, where possible, for many files. */
export function benchDirectory(
  options: { inMemory?: boolean } = {},
): { at(name?: string): string } & Disposable {
  const base = options.inMemory === true && existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = realpathSync(mkdtempSync(join(base, 'execwire-host-')));
  return {
    at: (name) => (name === undefined ? directory : join(directory, name)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
