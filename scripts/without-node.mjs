/** What the client library uses in Node only, and what takes its place in a page, which never gets there. */
const STUBS = {
  'websocket-node.js': 'dialInNode',
  'node:net': 'createServer',
  'node:stream': 'Duplex',
  'node:url': 'pathToFileURL',
};

/** Makes the client library fit for browsers. A plugin for Vite and Rolldown. */
export const withoutNode = {
  name: 'without-node',
  /** @type {'pre'} */
  enforce: 'pre',
  /** @param {string} source */
  resolveId: (source) => {
    const name = source.split('/').at(-1) ?? '';
    return Object.hasOwn(STUBS, name) ? `\0${name}` : null;
  },
  /** @param {string} id */
  load: (id) => {
    const stub = STUBS[/** @type {keyof typeof STUBS} */ (id.slice(1))];
    return id.startsWith('\0') && stub
      ? `export function ${stub}() { throw new Error("This is not available in a page."); }`
      : null;
  },
};
