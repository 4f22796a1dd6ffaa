import { z } from 'zod';
import { pathText, parseFileUri } from '../file-uri.js';
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

/** Operations on one path keep their order. Two spellings of a path are one path. */
export const fileLane = (params: { path: string }): string => `file:${spelledOut(params.path)}`;

function spelledOut(uri: string): string {
  try {
    return pathText(parseFileUri(uri));
  } catch {
    return uri;
  }
}
