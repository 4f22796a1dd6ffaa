// Compiles src/ to dist/. Files whose source is gone are removed first, so that dist/ never holds a stale module.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');

if (existsSync(dist)) {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const source = name.replace(/\.(d\.ts|js|js\.map)$/, '.ts');
    if (source !== name && !existsSync(join(root, 'src', source))) rmSync(join(dist, name));
  }
}
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const { status } = spawnSync(tsc, ['-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
process.exit(status ?? 1);
