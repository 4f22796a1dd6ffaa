import { z } from 'zod';
import { request } from '../method.js';
import { FileUri, Unsigned } from './common.js';
import { sandboxed } from './file-common.js';

export const fsSearch = request({
  doc: 'Lines that match, in files below a directory or in one file. Binary files are skipped.',
  extension: 'fsSearch',
  params: z.object({
    path: FileUri,
    pattern: z.string().min(1),
    regex: z.boolean().nullish().meta({ description: 'Default false: the pattern is taken as it stands.' }),
    caseSensitive: z.boolean().nullish().meta({ description: 'Default true.' }),
    globs: z.array(z.string()).max(256).nullish().meta({
      description:
        'File name patterns as ripgrep reads them; a leading `!` leaves out, one with a slash starts at `path`.',
    }),
    hidden: z.boolean().nullish().meta({ description: 'Also names that start with a dot. Default false.' }),
    maxMatches: Unsigned.nullish().meta({ description: '1 to 10,000; default 200.' }),
    cursor: z.string().nullish().meta({ description: 'From the page before.' }),
    ...sandboxed,
  }),
  result: z.object({
    matches: z.array(
      z.object({
        path: FileUri,
        line: Unsigned.meta({ description: 'Counts from 1.' }),
        column: Unsigned.meta({ description: 'Bytes before the first match in the line, plus 1.' }),
        text: z.string().meta({ description: 'The line, cut at 1,024 bytes.' }),
        cut: z.boolean(),
      }),
    ),
    cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  }),
  idempotent: true,
  answerSize: 'list',
});
