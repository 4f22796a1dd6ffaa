// Runs the interoperability tests: installs the pinned Codex, MCP clients and MCP suite when they are missing, builds execwire, starts vitest.
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

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

/** Installs what a folder pins, unless that is there. */
function install(folder) {
  const { dependencies } = readJson(join(folder, 'package.json'));
  const isInstalled = ([name, version]) =>
    readJson(join(folder, 'node_modules', name, 'package.json')).version === version;
  // Nothing of theirs runs at install: the tests call the programs inside.
  if (!Object.entries(dependencies).every(isInstalled))
    run('npm', ['ci', '--prefix', folder, '--ignore-scripts']);
}

for (const folder of ['.', 'clients', 'mcp-conformance']) install(join(interop, folder));
run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
run(join(root, 'node_modules', '.bin', 'vitest'), [
  'run',
  '--config',
  join(interop, 'vitest.config.ts'),
  ...process.argv.slice(2),
]);
