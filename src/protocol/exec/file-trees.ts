import { z } from 'zod';
import { request } from '../method.js';
import { FileUri, Unsigned } from './common.js';
import {
  changes,
  Empty,
  followable,
  LinkDetails,
  LinkText,
  ModifiedAtUs,
  permitted,
  reads,
  sandboxed,
  timed,
} from './file-common.js';

export const fsCreateDirectory = request({
  doc: 'Makes a directory.',
  params: z.object({
    path: FileUri,
    recursive: z
      .boolean()
      .nullish()
      .meta({ description: 'Make parents too, and accept an existing directory. Default true.' }),
    ...permitted,
    ...timed,
    ...followable,
  }),
  result: Empty,
  orderedBy: ({ path }) => changes(path),
});

export const fsCreateSymlink = request({
  doc: 'Creates a symbolic link.',
  extension: 'fsLinksAndTimes',
  params: z.object({
    path: FileUri,
    targetBase64: LinkText,
    replace: z.boolean().nullish().meta({
      description: 'Replace an existing file or link in one step; never a directory. Default false.',
    }),
    ...timed,
    ...followable,
  }),
  result: Empty,
  orderedBy: ({ path }) => changes(path),
  base64: { params: 'targetBase64' },
});

export const fsReadDirectory = request({
  doc: 'Lists a directory of at most 50,000 entries, unordered.',
  params: z.object({
    path: FileUri,
    details: z.boolean().nullish().meta({
      description:
        'Extension `fsDirectoryDetails`: fill in `isSymlink`, `size`, `mode`, `modifiedAtUs` and `link`. Default false.',
    }),
    ...sandboxed,
  }),
  result: z.object({
    entries: z.array(
      z.object({
        fileName: z.string().meta({ description: 'Bytes that are not UTF-8 appear as U+FFFD.' }),
        isDirectory: z.boolean().meta({ description: 'For a link, of its target.' }),
        isFile: z.boolean().meta({ description: 'For a link, of its target; a dangling link is neither.' }),
        path: FileUri.optional().meta({
          description: 'Extension: present if the name is not UTF-8; addresses the entry.',
        }),
        isSymlink: z.boolean().optional().meta({ description: 'Extension: only with `details`.' }),
        size: Unsigned.optional().meta({ description: 'Extension: only with `details`.' }),
        mode: Unsigned.optional().meta({ description: 'Extension: permission bits, only with `details`.' }),
        modifiedAtUs: ModifiedAtUs,
        link: LinkDetails,
      }),
    ),
  }),
  orderedBy: ({ path }) => reads(path),
  idempotent: true,
  answerSize: 'large',
});

export const fsWalk = request({
  doc: 'Lists everything below a directory: breadth first, sorted by name within a directory, without the start itself.',
  params: z.object({
    path: FileUri,
    options: z.object({
      maxDepth: Unsigned.meta({ description: '0 lists only the directory’s own entries; at most 64.' }),
      maxDirectories: Unsigned.meta({ description: '1 to 10,000.' }),
      maxEntries: Unsigned.meta({ description: '1 to 50,000; skipped entries count.' }),
      followDirectorySymlinks: z.boolean().meta({ description: 'False omits links.' }),
      pruneHiddenDirectories: z
        .boolean()
        .default(false)
        .meta({ description: 'List directories whose name starts with a dot, but do not enter them.' }),
    }),
    ...sandboxed,
  }),
  result: z.object({
    entries: z.array(z.object({ path: FileUri, kind: z.enum(['directory', 'file']) })),
    errors: z
      .array(z.object({ path: FileUri, message: z.string() }))
      .meta({ description: 'Directories that could not be read.' }),
    truncated: z.boolean().meta({ description: 'A limit was reached and there is more.' }),
  }),
  orderedBy: ({ path }) => reads(path),
  idempotent: true,
  answerSize: 'list',
});

export const fsRemove = request({
  doc: 'Removes a file, a link (never its target) or a directory.',
  params: z.object({
    path: FileUri,
    recursive: z.boolean().nullish().meta({ description: 'Default true.' }),
    force: z.boolean().nullish().meta({ description: 'Ignore a missing path. Default true.' }),
    ...followable,
  }),
  result: Empty,
  orderedBy: ({ path }) => changes(path),
});

export const fsCopy = request({
  doc: 'Copies a file (overwriting), a link (as a link) or, with `recursive`, a directory (merging).',
  params: z.object({
    sourcePath: FileUri,
    destinationPath: FileUri,
    recursive: z.boolean(),
    keepTimes: z.boolean().nullish().meta({
      description: 'Extension `fsLinksAndTimes`: keep the modification times. Default false.',
    }),
    ...sandboxed,
  }),
  result: Empty,
  orderedBy: ({ sourcePath, destinationPath }) => [changes(sourcePath), changes(destinationPath)],
});

export const fsRename = request({
  doc: 'Moves within one file system. A file at the destination is replaced atomically.',
  extension: 'fsRename',
  params: z.object({ sourcePath: FileUri, destinationPath: FileUri, ...sandboxed }),
  result: Empty,
  orderedBy: ({ sourcePath, destinationPath }) => [changes(sourcePath), changes(destinationPath)],
});
