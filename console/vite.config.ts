import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { withoutDescriptions, withoutDocs } from '../scripts/without-descriptions.mjs';
import { withoutNode } from '../scripts/without-node.mjs';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [withoutNode, withoutDescriptions, withoutDocs],
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
