import { z } from 'zod';
import { request } from '../method.js';
import { FileUri, Unsigned } from './common.js';
import { sandboxed } from './file-common.js';

export const fsSearch = request({
  doc: 'Finds matching lines in one file or in all files below a directory. Binary files are skipped.',
  extension: 'fsSearch',
  params: z.object({
    path: FileUri,
    pattern: z.string().min(1),
    regex: z.boolean().nullish().meta({ description: 'Default false: the pattern is literal text.' }),
    caseSensitive: z.boolean().nullish().meta({ description: 'Default true.' }),
    globs: z.array(z.string()).max(256).nullish().meta({
      description:
        'File name patterns as in ripgrep; a leading `!` excludes, and one with a slash is relative to `path`.',
    }),
    hidden: z
      .boolean()
      .nullish()
      .meta({ description: 'Include names that start with a dot. Default false.' }),
    maxMatches: Unsigned.nullish().meta({ description: '1 to 10,000; default 200.' }),
    cursor: z.string().nullish().meta({ description: 'From the previous page.' }),
    ...sandboxed,
  }),
  result: z.object({
    matches: z.array(
      z.object({
        path: FileUri,
        line: Unsigned.meta({ description: 'Counts from 1.' }),
        column: Unsigned.meta({ description: 'Start of the first match in the line, in bytes from 1.' }),
        text: z.string().meta({ description: 'The line, truncated to 1,024 bytes.' }),
        cut: z.boolean(),
      }),
    ),
    cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  }),
  idempotent: true,
  answerSize: 'list',
});
