// Runs the interoperability tests: installs the pinned Codex when it is missing, builds execwire, starts vitest.
// Arguments go to vitest, e.g. `npm run test:interop -- reconnect`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const interop = dirname(fileURLToPath(import.meta.url));
const root = dirname(interop);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function installedVersion() {
  const manifest = join(interop, 'node_modules', '@openai', 'codex', 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

const pinned = JSON.parse(readFileSync(join(interop, 'package.json'), 'utf8')).dependencies['@openai/codex'];
if (installedVersion() !== pinned) run('npm', ['ci', '--prefix', interop, '--ignore-scripts']);
run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
run(join(root, 'node_modules', '.bin', 'vitest'), [
  'run',
  '--config',
  join(interop, 'vitest.config.ts'),
  ...process.argv.slice(2),
]);
