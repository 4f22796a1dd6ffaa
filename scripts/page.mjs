// Builds the page of the console into dist/page, unless it is there already and nothing it is made of has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

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
  compress(join(root, 'dist', 'page', 'assets'));
  writeFileSync(stamp, digest);
}

/** A fifth smaller than what gzip makes of it, in the package and on the way to a browser. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(readFileSync(join(folder, name))));
    rmSync(join(folder, name));
  }
}

function digestOf(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const name of ['page', 'without-descriptions', 'without-node'])
    hash.update(readFileSync(join(root, 'scripts', `${name}.mjs`)));
  for (const folder of SOURCES) {
    const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files.sort()) hash.update(file.slice(root.length)).update(readFileSync(file));
  }
  return hash.digest('hex');
}
