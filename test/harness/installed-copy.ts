import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a server loads of its packages: the rest is in what is built. */
const NATIVE = ['koffi', '@koromix'];

/** What it loads when it is first needed, and what its confined helpers load. */
const LATE = ['undici', 'zod', 'smol-toml'];

/** Source maps, declarations and the like: more than half of all files, and nothing ever loads them. */
const UNLOADED = /\.(?:d\.[cm]?ts|ts|map|md)$/;

function copyLoaded(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !UNLOADED.test(path) });
}

/** What is built and what it needs at run time, in a folder every user can read, as an installation is. */
export class InstalledCopy implements Disposable {
  readonly path: string;
  readonly bin: string;

  /** `hoisted`: the libraries lie beside it, as package managers put them. */
  constructor(path = mkdtempSync(join(tmpdir(), 'execwire-installed-')), { hoisted = false } = {}) {
    this.path = path;
    this.bin = join(path, 'bin', 'execwire.js');
    for (const name of ['bin', 'dist', 'package.json']) copyLoaded(join(root, name), join(path, name));
    const modules = hoisted ? dirname(path) : join(path, 'node_modules');
    for (const name of [...NATIVE, ...LATE])
      copyLoaded(join(root, 'node_modules', name), join(modules, name));
    chmodSync(this.path, 0o755);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
