// Builds the page of the console into dist/page, unless it is there already and nothing it is made of has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the page is made of: its own sources, and the library it uses. */
const SOURCES = [
  'console',
  'src/client',
  'src/contract',
  'src/protocol',
  'src/rpc',
  'src/transport',
  'src/recording',
  'src/policy',
];

export async function buildPage(root) {
  const stamp = join(root, 'dist', 'page', '.built-from');
  const digest = digestOf(root);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  const { build } = await import('vite');
  await build({ configFile: join(root, 'console', 'vite.config.ts') });
  writeFileSync(stamp, digest);
}

function digestOf(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const folder of SOURCES) {
    const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files.sort()) hash.update(file.slice(root.length)).update(readFileSync(file));
  }
  return hash.digest('hex');
}
