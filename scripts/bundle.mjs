import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { breakLines, findBreaks, placesBefore } from './break-lines.mjs';
import { writeBrowserLibrary } from './browser-library.mjs';
import { subpathsOf, writeLibrary } from './library.mjs';
import { writePrograms } from './programs.mjs';
import { replaceFiles } from './replace-files.mjs';
import { withoutDescriptions } from './without-descriptions.mjs';

/**
 * Libraries every command needs. They consist of some 130 files, and Node takes about a millisecond for each; all others
 * are loaded from where they are installed, by the command that needs them.
 */
const NEEDED_BY_ALL = ['zod', 'ws', 'commander'];

/** Exists only as ES modules, which the older of the Nodes we support cannot `require`. */
const MODULES_ONLY = ['jose', '@noble/post-quantum', '@noble/curves', '@noble/hashes'];

/** What the compiler makes of `await using`: in one place instead of in each module. */
const HELPERS = 'tslib';

const INLINED = [...NEEDED_BY_ALL, ...MODULES_ONLY, HELPERS];

/** What most commands load before they do anything, each a page or two: together in one file. */
const BASICS = [
  'protocol/(?:errors|file-uri|max-timer|time-slice|turn-queue)',
  'contract/[^/]+',
  'contract/(?:run|ports)/[^/]+',
  'host/kernel/(?:package-file|random|ip-bytes)',
  'environment/(?:open-environment|configuration-home|environment-names)',
  'cli/options/(?:copy-location|directory-option|option-values|sandbox-options|target-options)',
  'cli/habits/(?:machine-argument|readable-arguments)',
  'cli/terminal/(?:lost-output|table|paint|print-output|quantities)',
];

/**
 * Less text takes less time to read at each start, and to download. Classes keep their names, for stack traces: together with
 * those of their methods, they say where something happened. Names of functions are two percent of the package.
 */
const keepNames = { function: false, class: true };
export const MINIFY = {
  compress: { keepNames },
  mangle: { toplevel: true, keepNames },
  codegen: { removeWhitespace: true },
};

/**
 * Puts the compiled command line, the library, and what they always load into few files, so that every command starts
 * fast. Both are made of the same chunks: a package that held each of them on its own would be half as large again.
 */
export async function bundleProgram(root) {
  const chunks = await generateChunks(root);
  const notices = INLINED.map((name) => licenseOf(root, name)).join('\n');
  replaceFiles(join(root, 'dist', 'bin'), [
    { name: 'LICENSES.txt', text: notices },
    ...chunks.map(({ fileName, code }) => ({ name: fileName, text: breakLines(code, findBreaks(code)) })),
    { name: 'loader.cjs', text: loaderFor(root, entryOf(chunks, 'execwire').fileName) },
  ]);
  writeLibrary(root, (name) => entryOf(chunks, name));
  await writeBrowserLibrary(root, MINIFY);
  await writePrograms(root, MINIFY);
}

/**
 * The source map of each chunk by its name, and the place in it for one in the file: for tools that ask which module a
 * function came from. Not shipped.
 */
export async function chunkMaps(root) {
  const output = await generateChunks(root, { sourcemap: 'hidden' });
  // A chunk that only passes names on has none.
  const mapped = output.filter(({ map }) => map);
  return new Map(
    mapped.map(({ fileName, map, code }) => [
      fileName,
      { map, placeBefore: placesBefore(code, findBreaks(code)) },
    ]),
  );
}

/**
 * @param {string} root
 * @param {{ sourcemap?: boolean | 'hidden' }} [options]
 */
async function generateChunks(root, { sourcemap = false } = {}) {
  const bundle = await rolldown({
    input: {
      execwire: join(root, 'dist', 'cli', 'main.js'),
      ...Object.fromEntries(subpathsOf(root).map(({ name, module }) => [name, module])),
    },
    platform: 'node',
    external: (id) =>
      /^[^./\0]/.test(id) && !INLINED.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [withoutDescriptions],
    // `ws` is loaded lazily by clients and at once by servers; which of the two is no concern of ours here.
    checks: { ineffectiveDynamicImport: false },
  });
  // CommonJS, because Node loads that faster than ES modules, and can be given the code V8 made of it.
  const names = '[name]-[hash].cjs';
  const { output } = await bundle.generate({
    // Names of sources in a map are relative to where the chunks go.
    dir: join(root, 'dist', 'bin'),
    format: 'cjs',
    entryFileNames: names,
    chunkFileNames: names,
    codeSplitting: {
      groups: [{ name: 'basics', test: new RegExp(`/dist/(?:${BASICS.join('|')})\\.js$`) }],
    },
    // Code taken from the build has no way to `import`.
    dynamicImportInCjs: false,
    minify: MINIFY,
    sourcemap,
  });
  await bundle.close();
  return output.filter((each) => each.type === 'chunk');
}

function entryOf(chunks, wanted) {
  const entry = chunks.find(({ isEntry, name }) => isEntry && name === wanted);
  if (!entry) throw new Error(`the bundle has no entry ${wanted}`);
  return entry;
}

function loaderFor(root, entry) {
  return readFileSync(join(root, 'scripts', 'loader.cjs'), 'utf8')
    .replace('__ENTRY__', entry)
    .replace('__BUILT_FOR__', `${process.versions.v8} ${process.arch}`);
}

/** The inlined libraries ask that their notices travel with every copy. */
function licenseOf(root, name) {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`;
}
