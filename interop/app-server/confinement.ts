import { posix } from 'node:path';
import type { Wire } from '../../testkit/wire-client.mjs';

/** Requests that change files, and the members that say which. */
const CHANGING: Readonly<Record<string, readonly string[]>> = {
  'fs/writeFile': ['path'],
  'fs/createDirectory': ['path'],
  'fs/remove': ['path'],
  'fs/copy': ['sourcePath', 'destinationPath'],
};

/**
 * A wire that refuses to carry a request that would change a file outside `root`. The real server does what it is told,
 * to any path: a mistake in a case must fail here and not on the machine.
 */
export function confinedTo(root: string, wire: Wire): Wire {
  return {
    ...wire,
    send: (text) => {
      assertConfined(root, text);
      wire.send(text);
    },
  };
}

function assertConfined(root: string, text: string): void {
  const method = Object.keys(CHANGING).find((each) => text.includes(each));
  if (method === undefined) return;
  const { params } = JSON.parse(text) as { params?: Readonly<Record<string, unknown>> };
  for (const member of CHANGING[method] ?? []) {
    const path = params?.[member];
    if (path === undefined || typeof path === 'number') continue;
    const inside = typeof path === 'string' && posix.resolve('/', path).startsWith(`${root}/`);
    if (!inside || !path.startsWith('/')) throw new Error(`${method} would leave the folder of this test`);
  }
}
