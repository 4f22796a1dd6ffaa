import { z } from 'zod';
import { parseFileUri } from '../file-uri.js';
import type { PathOrder } from '../method.js';
import { Unsigned } from './common.js';
import { Sandbox } from './sandbox.js';

/** No kernel takes longer ones; in base64. */
const MAX_LINK_CHARS = 8192;

/** The answer of methods without a result. */
export const Empty = z.object({});

/** For operations that a policy can confine. */
export const sandboxed = {
  sandbox: Sandbox.nullish().meta({
    description: 'What the operation may access. Absent or null: everything.',
  }),
};

/** For operations that can refuse to follow links. */
export const followable = {
  ...sandboxed,
  followSymlinks: z
    .boolean()
    .nullish()
    .meta({ description: 'False: no component of the path may be a link. Default true.' }),
};

/** For operations that can set the permissions of what they create. */
export const permitted = {
  permissions: Unsigned.max(0o777).nullish().meta({
    description:
      'Extension `fsPlacement`: permission bits, set before any content is written, regardless of the old ones and of the umask.',
  }),
};

/** For operations that can set the modification time of what they make. */
export const timed = {
  modifiedAtUs: z
    .number()
    .int()
    .nullish()
    .meta({ description: 'Extension `fsLinksAndTimes`: the modification time it gets. Absent: now.' }),
};

/** What a link says, byte by byte: it need be neither a path that exists nor UTF-8. */
export const LinkText = z.string().max(MAX_LINK_CHARS).meta({
  contentEncoding: 'base64',
  description: 'The target exactly as stored in the link, relative or absolute.',
});

/** The link itself, where everything else describes what it leads to. */
export const LinkDetails = z
  .object({ targetBase64: LinkText, modifiedAtUs: z.number().int() })
  .optional()
  .meta({ description: 'Extension `fsLinksAndTimes`: the link itself, only with `details`.' });

/** When something was modified, to the microsecond. */
export const ModifiedAtUs = z
  .number()
  .int()
  .optional()
  .meta({ description: 'Extension `fsLinksAndTimes`: only with `details`.' });

/** One character per byte: names need not be UTF-8, and all that matters is whether two paths are equal. */
const byteText = new TextDecoder('latin1');

/** For operations that only read. */
export function reads(uri: string): PathOrder {
  return { path: normalisedPath(uri), changes: false };
}

/** For operations that modify the path or anything below it. */
export function changes(uri: string): PathOrder {
  return { path: normalisedPath(uri), changes: true };
}

/** Different spellings of a path are the same path. An invalid one is rejected later, where it is used. */
function normalisedPath(uri: string): string {
  try {
    return byteText.decode(parseFileUri(uri));
  } catch {
    return uri;
  }
}
