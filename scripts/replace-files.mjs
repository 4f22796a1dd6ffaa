import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes these the only programs in a folder. Whoever starts one meanwhile finds all of the old files or all of the new
 * ones, provided that what loads the others comes last.
 */
export function replaceFiles(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of files) {
    const draft = join(folder, `${name}.${process.pid}`);
    writeFileSync(draft, text);
    renameSync(draft, join(folder, name));
  }
  const current = new Set(files.map(({ name }) => name));
  for (const name of readdirSync(folder)) {
    // Code made of an old chunk, or by another Node, goes as well.
    if (/\.(js|cjs|code)$/.test(name) && !current.has(name)) rmSync(join(folder, name), { force: true });
  }
}
