// Writes what is derived from the protocol declarations and the constants in src/: schema/*.json and docs/reference/*.md.
// With --check it writes nothing and fails when a file differs from a fresh run.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dialects } from './generate/dialects.mjs';
import { errorPage } from './generate/error-page.mjs';
import { jsonSchema } from './generate/json-schema.mjs';
import { limitsPage } from './generate/limits/limits-page.mjs';
import { openRpc } from './generate/openrpc.mjs';
import { referencePage } from './generate/reference-page.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const jsonText = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** @type {Map<string, string>} */
const files = new Map();
for (const dialect of dialects) {
  files.set(`schema/${dialect.name}.json`, jsonText(jsonSchema(dialect)));
  files.set(`schema/${dialect.name}.openrpc.json`, jsonText(openRpc(dialect)));
  files.set(`docs/reference/${dialect.name}.md`, referencePage(dialect));
}
files.set('docs/reference/errors.md', errorPage());
files.set('docs/reference/limits.md', limitsPage());

/** Files only: docs/reference/api/ is made by a command of its own. */
function existingFiles() {
  return ['schema', 'docs/reference'].flatMap((folder) => {
    mkdirSync(join(root, folder), { recursive: true });
    return readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`);
  });
}

const stale = existingFiles().filter((name) => !files.has(name));
if (process.argv.includes('--check')) {
  const present = new Set(existingFiles());
  const different = [...files].filter(
    ([name, text]) => !present.has(name) || readFileSync(join(root, name), 'utf8') !== text,
  );
  const wrong = [...stale, ...different.map(([name]) => name)];
  if (wrong.length > 0) {
    console.error(`Generated files are out of date: ${wrong.join(', ')}. Run: npm run generate`);
    process.exit(1);
  }
} else {
  for (const name of stale) rmSync(join(root, name));
  for (const [name, text] of files) writeFileSync(join(root, name), text);
}
