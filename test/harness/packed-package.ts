import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The package as it would be published, installed in a project of its own. Nothing is fetched for it. */
export class PackedPackage implements Disposable {
  /** The project that has it installed. */
  readonly project = mkdtempSync(join(tmpdir(), 'execwire-packed-'));
  readonly tarball: string;
  /** Where the package is in it. */
  readonly path = join(this.project, 'node_modules', 'execwire');

  constructor() {
    const options = ['--ignore-scripts', '--silent', '--pack-destination', this.project];
    execFileSync('npm', ['pack', ...options], { cwd: root, stdio: 'pipe' });
    const name = readdirSync(this.project).find((each) => each.endsWith('.tgz')) ?? '';
    this.tarball = join(this.project, name);
    mkdirSync(this.path, { recursive: true });
    execFileSync('tar', ['-xzf', this.tarball, '-C', this.path, '--strip-components=1']);
    this.#linkDependencies();
  }

  /** Every file in it, relative to its root. */
  get files(): string[] {
    return readdirSync(this.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path.length + 1));
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  [Symbol.dispose](): void {
    rmSync(this.project, { recursive: true, force: true });
  }

  /**
   * What it depends on is here already, in the versions it asks for, and what an example says must be installed for it.
   * Nothing else may be found.
   */
  #linkDependencies(): void {
    const { dependencies } = JSON.parse(this.read('package.json')) as {
      dependencies: Record<string, string>;
    };
    for (const name of [...Object.keys(dependencies), '@types/node', 'openai']) {
      const link = join(this.project, 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), link);
    }
  }
}
