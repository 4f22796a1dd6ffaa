// Compiles src/ to dist/, and puts the command line together in dist/bin/. Files whose source is gone are removed
// first, so that dist/ never holds a stale module.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from './bundle.mjs';
import { recordCode } from './code-cache.mjs';
import { buildPage } from './page.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

if (existsSync(dist)) {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const source = name.replace(/\.(d\.ts|js)$/, '.ts');
    if (
      source !== name &&
      !/^(bin|library|page|programs|types)\//.test(name) &&
      !existsSync(join(root, 'src', source))
    )
      rmSync(join(dist, name));
  }
}
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const { status } = spawnSync(tsc, ['-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (status !== 0) {
  // It would keep complaints about packages that were missing, although they are installed by the next time.
  rmSync(join(dist, '.tsbuildinfo'), { force: true });
  process.exit(status ?? 1);
}
await buildPage(root);
await bundleProgram(root);
await recordCode(root);
