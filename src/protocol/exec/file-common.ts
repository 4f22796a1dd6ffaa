import { z } from 'zod';
import { parseFileUri } from '../file-uri.js';
import type { PathOrder } from '../method.js';
import { Unsigned } from './common.js';
import { Sandbox } from './sandbox.js';

/** The answer of methods that only do something. */
export const Empty = z.object({});

/** For operations a policy can confine. */
export const sandboxed = {
  sandbox: Sandbox.nullish().meta({
    description: 'What the operation may touch; absent or null: everything.',
  }),
};

/** For operations that can be told to follow no link. */
export const followable = {
  ...sandboxed,
  followSymlinks: z
    .boolean()
    .nullish()
    .meta({ description: 'False: no component of the path may be a link. Default true.' }),
};

/** For operations that can say who may do what with the thing they make. */
export const permitted = {
  permissions: Unsigned.max(0o777).nullish().meta({
    description:
      'Extension `fsPlacement`: permission bits it has before there is anything in it, whatever it had and whatever the umask.',
  }),
};

/** One character per byte: names need not be UTF-8, and all that matters is which paths are the same. */
const byteText = new TextDecoder('latin1');

/** For operations that only look. */
export function looksAt(uri: string): PathOrder {
  return { path: spelledOut(uri), changes: false };
}

/** For operations after which the path, or what is below it, is not what it was. */
export function changes(uri: string): PathOrder {
  return { path: spelledOut(uri), changes: true };
}

/** Two spellings of a path are one path. What is none is refused later, by whoever uses it. */
function spelledOut(uri: string): string {
  try {
    return byteText.decode(parseFileUri(uri));
  } catch {
    return uri;
  }
}
