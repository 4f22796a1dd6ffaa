import { createRequire, SourceMap } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chunkMaps } from '../../scripts/bundle.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'dist', 'bin');

/** Finds the module a function of a profile was written in: the command line runs from chunks of many. */
export async function openModules() {
  const maps = await chunkMaps(root);
  const opened = new Map([...maps].map(([name, map]) => [name, new SourceMap({ sourceRoot: '', ...map })]));
  const { WRAPPER } = createRequire(import.meta.url)(join(folder, 'loader.cjs'));
  return ({ url, lineNumber, columnNumber }) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : url;
    const map = opened.get(basename(path));
    if (!map) return path;
    // The loader compiles a chunk behind the head of its wrapper, in the same line.
    const column = lineNumber === 0 ? Math.max(0, columnNumber - WRAPPER[0].length) : columnNumber;
    const entry = map.findEntry(lineNumber, column);
    return 'originalSource' in entry && entry.originalSource ? resolve(folder, entry.originalSource) : path;
  };
}
