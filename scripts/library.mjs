import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { replaceFiles } from './replace-files.mjs';

/** What users import: `execwire` is `index`, `execwire/client` is `client`. */
export function subpathsOf(root) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys(exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => {
      const folder = join(root, 'dist', subpath);
      return { name: subpath === '.' ? 'index' : subpath.slice(2), module: join(folder, 'index.js') };
    });
}

/** The modules that users import. They pass on what the chunks of the command line hold. */
export function writeLibrary(root, entryOf) {
  const subpaths = subpathsOf(root);
  replaceFiles(
    join(root, 'dist', 'library'),
    subpaths.map(({ name }) => ({ name: `${name}.js`, text: facade(entryOf(name)) })),
  );
  copyDeclarations(root, subpaths);
}

function facade({ fileName, exports }) {
  const names = exports.toSorted();
  return `import chunk from '../bin/${fileName}';\nexport const { ${names.join(', ')} } = chunk;\n`;
}

/** The types of what users import, and of what those mention; others would only make the package larger. */
function copyDeclarations(root, subpaths) {
  const [dist, types] = [join(root, 'dist'), join(root, 'dist', 'types')];
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import)\s*\(?\s*["'](\.[^"']+)\.js["']/g,
    )) {
      const next = join(dirname(file), `${path}.d.ts`);
      if (existsSync(next)) visit(next);
    }
  };
  for (const { module } of subpaths) visit(module.replace(/\.js$/, '.d.ts'));
  rmSync(types, { recursive: true, force: true });
  for (const file of found) cpSync(file, join(types, relative(dist, file)));
}
