import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDeclarations } from './declarations.mjs';
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
  writeDeclarations(root, subpaths);
}

function facade({ fileName, exports }) {
  const names = exports.toSorted();
  return `import chunk from '../bin/${fileName}';\nexport const { ${names.join(', ')} } = chunk;\n`;
}
