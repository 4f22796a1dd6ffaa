import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Libraries every command needs. They consist of some 130 files, and Node takes about a millisecond for each; all others
 * are loaded from where they are installed, by the command that needs them.
 */
const NEEDED_BY_ALL = ['zod', 'ws', 'commander'];

/** Exists only as ES modules, which the older of the Nodes we support cannot `require`. */
const MODULES_ONLY = ['jose'];

const INLINED = [...NEEDED_BY_ALL, ...MODULES_ONLY];

/** What most commands load before they do anything, each a page or two: together in one file. */
const BASICS = [
  'protocol/(?:errors|file-uri|max-timer)',
  'contract/[^/]+',
  'contract/(?:run|ports)/[^/]+',
  'host/kernel/(?:package-file|random|ip-bytes)',
  'environment/(?:open-environment|configuration-home|environment-names)',
  'cli/options/(?:copy-location|directory-option|option-values|sandbox-options|target-options)',
  'cli/habits/machine-argument',
  'cli/terminal/(?:table|paint|print-output|quantities)',
];

/** Whitespace costs time to read at each start; names stay, for stack traces. */
const MINIFY = { compress: false, mangle: false, codegen: { removeWhitespace: true } };

/** Puts the compiled command line and what it always loads into few files, so that every command starts fast. */
export async function bundleProgram(root) {
  const chunks = await generateChunks(root);
  const notices = INLINED.map((name) => licenseOf(root, name)).join('\n');
  replaceFiles(join(root, 'dist', 'bin'), [
    { name: 'LICENSES.txt', text: notices },
    ...chunks.map(({ fileName, code }) => ({ name: fileName, text: code })),
    { name: 'loader.cjs', text: loaderFor(root, entryOf(chunks).fileName) },
  ]);
  replaceFiles(join(root, 'dist', 'keeper', 'program'), [
    { name: 'keeper.cjs', text: await keeperFile(root) },
  ]);
}

/** The keeper is a program of its own in one file: nothing but what it needs should be in its memory. */
async function keeperFile(root) {
  const bundle = await rolldown({
    input: join(root, 'dist', 'keeper', 'main.js'),
    platform: 'node',
    external: (id) => /^[^./\0]/.test(id),
  });
  const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false, minify: MINIFY });
  await bundle.close();
  return output[0].code;
}

/** The source map of each chunk by its name: for tools that ask which module a function came from. Not shipped. */
export async function chunkMaps(root) {
  const output = await generateChunks(root, { sourcemap: 'hidden' });
  // A chunk that only passes names on has none.
  const mapped = output.flatMap(({ fileName, map }) => (map ? [{ fileName, map }] : []));
  return new Map(mapped.map(({ fileName, map }) => [fileName, map]));
}

/**
 * @param {string} root
 * @param {{ sourcemap?: boolean | 'hidden' }} [options]
 */
async function generateChunks(root, { sourcemap = false } = {}) {
  const bundle = await rolldown({
    input: { execwire: join(root, 'dist', 'cli', 'main.js') },
    platform: 'node',
    external: (id) => /^[^./\0]/.test(id) && !INLINED.includes(id),
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

function entryOf(chunks) {
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (!entry) throw new Error('the bundle has no entry');
  return entry;
}

function loaderFor(root, entry) {
  return readFileSync(join(root, 'scripts', 'loader.cjs'), 'utf8')
    .replace('__ENTRY__', entry)
    .replace('__BUILT_FOR__', `${process.versions.v8} ${process.arch}`);
}

/** Whoever starts the program meanwhile finds all of the old files or all of the new ones: the loader comes last. */
function replaceFiles(folder, files) {
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

/** The inlined libraries ask that their notices travel with every copy. */
function licenseOf(root, name) {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no license file`);
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`;
}
