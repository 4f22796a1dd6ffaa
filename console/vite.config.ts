import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/** What the library uses in Node only, and what takes its place in a page, which never gets there. */
const STUBS: Readonly<Record<string, string>> = {
  'websocket-node.js': 'dialInNode',
  'node:net': 'createServer',
  'node:stream': 'Duplex',
  'node:url': 'pathToFileURL',
};

const withoutNode: Plugin = {
  name: 'without-node',
  enforce: 'pre',
  resolveId: (source) => {
    const name = source.split('/').at(-1) ?? '';
    return Object.hasOwn(STUBS, name) ? `\0${name}` : null;
  },
  load: (id) => {
    const stub = STUBS[id.slice(1)];
    return id.startsWith('\0') && stub
      ? `export function ${stub}() { throw new Error("This is not available in a page."); }`
      : null;
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [withoutNode],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  logLevel: 'warn',
  build: {
    outDir: fileURLToPath(new URL('../dist/page', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no inline script, and every browser we support preloads modules.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
  },
});
