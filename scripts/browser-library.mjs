import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { replaceFiles } from './replace-files.mjs';
import { withoutDescriptions, withoutDocs } from './without-descriptions.mjs';
import { withoutNode } from './without-node.mjs';

/**
 * The client library for pages: `execwire/client` under the condition `browser`. One module that needs nothing of Node, since
 * the chunks of the command line do.
 */
export async function writeBrowserLibrary(root, minify) {
  const bundle = await rolldown({
    input: { client: join(root, 'dist', 'client', 'index.js') },
    platform: 'browser',
    // A bundler finds what the package depends on, and shares it.
    external: (id) => /^[^./\0]/.test(id) && !id.startsWith('node:') && id !== 'tslib',
    plugins: [withoutNode, withoutDescriptions, withoutDocs],
  });
  const { output } = await bundle.generate({ format: 'es', codeSplitting: false, minify });
  await bundle.close();
  const chunks = output.filter((each) => each.type === 'chunk');
  replaceFiles(
    join(root, 'dist', 'library', 'browser'),
    chunks.map(({ fileName, code }) => ({ name: fileName, text: code })),
  );
}
