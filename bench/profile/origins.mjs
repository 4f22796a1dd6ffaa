import { createRequire, SourceMap } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chunkMaps } from '../../scripts/bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'dist', 'bin');

/** What the bundler leaves out. */
const NO_MAP = {
  file: '',
  version: 3,
  sources: [],
  sourcesContent: [],
  names: [],
  mappings: '',
  sourceRoot: '',
};

/**
 * Finds the module a function of a profile was written in, and its name there: the command line runs from chunks of many, in
 * which functions have short names.
 */
export async function openOrigins() {
  const chunks = await chunkMaps(root);
  const opened = new Map(
    [...chunks].map(([name, { map, placeBefore }]) => [
      name,
      { map: new SourceMap({ ...NO_MAP, ...map }), placeBefore },
    ]),
  );
  const { WRAPPER } = createRequire(import.meta.url)(join(folder, 'loader.cjs'));
  return ({ url, lineNumber, columnNumber, functionName }) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    const chunk = opened.get(basename(path));
    if (!chunk) return { path, name: functionName };
    // The loader compiles a chunk behind the head of its wrapper, in the same line.
    const behind = lineNumber === 0 ? Math.max(0, columnNumber - WRAPPER[0].length) : columnNumber;
    const { line, column } = chunk.placeBefore({ line: lineNumber, column: behind });
    // The types of Node leave out that an entry has a name.
    const entry = /** @type {Partial<import('node:module').SourceMapping> & { name?: string }} */ (
      chunk.map.findEntry(line, column)
    );
    return entry.originalSource
      ? { path: resolve(folder, entry.originalSource), name: entry.name ?? functionName }
      : { path, name: functionName };
  };
}
