import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { replaceFiles } from './replace-files.mjs';
import { withoutDescriptions, withoutDocs } from './without-descriptions.mjs';

/**
 * Programs that the library starts by their file: beside a server, in sandboxes and in network namespaces. Each loads
 * nothing but what it needs, since it pays for it at every start.
 */
const PROGRAMS = {
  'confined-target': 'host/files/confined/confined-target.js',
  'file-helper': 'host/sandbox/launch/file-helper-main.js',
  listeners: 'host/network/listeners-main.js',
  'screen-worker': 'screen/worker.js',
  sockets: 'host/ports/sockets-main.js',
};

export async function writePrograms(root, minify) {
  const file = (path) => join(root, 'dist', path);
  const inputs = Object.entries(PROGRAMS).map(([name, path]) => [name, file(path)]);
  const modules = await generate(Object.fromEntries(inputs), { format: 'es', minify });
  // In one file, because it stays in memory as long as a server does.
  const [keeper] = await generate(
    { keeper: file('keeper/main.js') },
    { format: 'cjs', codeSplitting: false, entryFileNames: '[name].cjs', minify },
  );
  const files = [...modules, keeper].map(({ fileName, code }) => ({ name: fileName, text: code }));
  // What is shared first.
  replaceFiles(join(root, 'dist', 'programs'), files.toReversed());
}

async function generate(input, options) {
  const external = (id) => /^[^./\0]/.test(id) && id !== 'tslib';
  const bundle = await rolldown({
    input,
    platform: 'node',
    external,
    plugins: [withoutDescriptions, withoutDocs],
  });
  const { output } = await bundle.generate(options);
  await bundle.close();
  return output.filter((each) => each.type === 'chunk');
}
