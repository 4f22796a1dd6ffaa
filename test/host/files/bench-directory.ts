import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory without links in its path, removed at the end. */
export function benchDirectory(): { at(name?: string): string } & Disposable {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'execwire-host-')));
  return {
    at: (name) => (name === undefined ? directory : join(directory, name)),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
