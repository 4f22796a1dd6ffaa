import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a server loads of its packages: the rest is in what is built. */
const NATIVE = ['node_modules/koffi', 'node_modules/@koromix'];

/** What is built and what it needs at run time, in a folder every user can read, as an installation is. */
export class InstalledCopy implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'execwire-installed-'));
  readonly bin = join(this.path, 'bin', 'execwire.js');

  constructor() {
    chmodSync(this.path, 0o755);
    for (const name of ['bin', 'dist', 'package.json', ...NATIVE]) {
      cpSync(join(root, name), join(this.path, name), { recursive: true });
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
