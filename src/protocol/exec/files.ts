import { z } from 'zod';
import { pathText, parseFileUri } from '../file-uri.js';
import { notification, request } from '../method.js';
import { Chunk, FileUri, Unsigned } from './common.js';
import { Sandbox } from './sandbox.js';

const Empty = z.object({});

const sandboxed = {
  sandbox: Sandbox.nullish().meta({
    description: 'What the operation may touch; absent or null: everything.',
  }),
};

const followable = {
  ...sandboxed,
  followSymlinks: z
    .boolean()
    .nullish()
    .meta({ description: 'False: no component of the path may be a link. Default true.' }),
};

/** Operations on one path keep their order. Two spellings of a path are one path. */
const fileLane = (params: { path: string }): string => `file:${spelledOut(params.path)}`;

function spelledOut(uri: string): string {
  try {
    return pathText(parseFileUri(uri));
  } catch {
    return uri;
  }
}

export const fsReadFile = request({
  doc: 'Reads a whole regular file of at most 512 MiB.',
  params: z.object({ path: FileUri, ...followable }),
  result: z.object({ dataBase64: Chunk }),
  orderedBy: fileLane,
  bytes: { result: 'dataBase64' },
});

export const fsWriteFile = request({
  doc: 'Creates a file or replaces its content. The directory must exist.',
  params: z.object({
    path: FileUri,
    dataBase64: Chunk,
    atomic: z.boolean().nullish().meta({
      description:
        'Extension `fsAtomicWrite`: readers see the old or the new content, and a failure leaves the old. Default false.',
    }),
    ...followable,
  }),
  result: Empty,
  orderedBy: fileLane,
  bytes: { params: 'dataBase64' },
});

export const fsCreateDirectory = request({
  doc: 'Makes a directory.',
  params: z.object({
    path: FileUri,
    recursive: z
      .boolean()
      .nullish()
      .meta({ description: 'Make parents too, and accept an existing directory. Default true.' }),
    ...followable,
  }),
  result: Empty,
  orderedBy: fileLane,
});

export const fsGetMetadata = request({
  doc: 'Describes what a path leads to.',
  params: z.object({ path: FileUri, ...followable }),
  result: z.object({
    isDirectory: z.boolean(),
    isFile: z.boolean(),
    isSymlink: z.boolean().meta({ description: 'Whether the path itself is a link.' }),
    size: Unsigned,
    createdAtMs: z.number().int().meta({ description: '0 where the machine does not tell.' }),
    modifiedAtMs: z.number().int(),
  }),
  orderedBy: fileLane,
});

export const fsCanonicalize = request({
  doc: 'The path without links. It must exist.',
  params: z.object({ path: FileUri, ...sandboxed }),
  result: z.object({ path: FileUri }),
  orderedBy: fileLane,
});

export const fsReadDirectory = request({
  doc: 'Lists a directory of at most 50,000 entries, in no order.',
  params: z.object({
    path: FileUri,
    details: z.boolean().nullish().meta({
      description: 'Extension `fsDirectoryDetails`: fill in `isSymlink`, `size` and `mode`. Default false.',
    }),
    ...sandboxed,
  }),
  result: z.object({
    entries: z.array(
      z.object({
        fileName: z.string().meta({ description: 'Bytes that are not UTF-8 show as U+FFFD.' }),
        isDirectory: z.boolean().meta({ description: 'Of what a link leads to.' }),
        isFile: z.boolean().meta({ description: 'Of what a link leads to; a dangling link is neither.' }),
        path: FileUri.optional().meta({
          description: 'Extension: present when the name is not UTF-8; the entry can be addressed by it.',
        }),
        isSymlink: z.boolean().optional().meta({ description: 'Extension: only with `details`.' }),
        size: Unsigned.optional().meta({ description: 'Extension: only with `details`.' }),
        mode: Unsigned.optional().meta({ description: 'Extension: permission bits, only with `details`.' }),
      }),
    ),
  }),
  orderedBy: fileLane,
});

export const fsWalk = request({
  doc: 'Lists what is below a directory: breadth first, by name within a directory, the start itself left out.',
  params: z.object({
    path: FileUri,
    options: z.object({
      maxDepth: Unsigned.meta({ description: '0 lists only the directory’s own entries; at most 64.' }),
      maxDirectories: Unsigned.meta({ description: '1 to 10,000.' }),
      maxEntries: Unsigned.meta({ description: '1 to 50,000; skipped entries count.' }),
      followDirectorySymlinks: z.boolean().meta({ description: 'False leaves links out altogether.' }),
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
    truncated: z.boolean().meta({ description: 'A limit was reached; there is more.' }),
  }),
  orderedBy: fileLane,
});

export const fsRemove = request({
  doc: 'Removes a file, a link (never what it leads to) or a directory.',
  params: z.object({
    path: FileUri,
    recursive: z.boolean().nullish().meta({ description: 'Default true.' }),
    force: z.boolean().nullish().meta({ description: 'A missing path is fine. Default true.' }),
    ...followable,
  }),
  result: Empty,
  orderedBy: fileLane,
});

export const fsCopy = request({
  doc: 'Copies a file (overwriting), a link (as a link) or, with `recursive`, a directory (merging).',
  params: z.object({
    sourcePath: FileUri,
    destinationPath: FileUri,
    recursive: z.boolean(),
    ...sandboxed,
  }),
  result: Empty,
  orderedBy: (params) => fileLane({ path: params.destinationPath }),
});

export const fsRename = request({
  doc: 'Moves within one file system. A file at the destination is replaced in one step.',
  extension: 'fsRename',
  params: z.object({ sourcePath: FileUri, destinationPath: FileUri, ...sandboxed }),
  result: Empty,
  orderedBy: (params) => fileLane({ path: params.destinationPath }),
});

export const fsWatchMissing = request({
  doc: 'Waits for paths to appear. A newer watch of the connection replaces the one before.',
  params: z.object({
    watchId: Unsigned.meta({ description: 'Must grow within a connection.' }),
    missing: z.array(FileUri),
    present: FileUri.nullish().meta({ description: 'Also wait for this one to change or go.' }),
  }),
  result: z.object({
    watching: z.boolean().meta({ description: 'False when there is nothing to wait for.' }),
  }),
  orderedBy: () => 'watchMissing',
});

export const fsMissingChanged = notification({
  doc: 'Something a watch waited for happened. The watch is spent.',
  params: z.object({ watchId: Unsigned }),
});

const WatchId = z.string().max(256).meta({ description: 'Chosen by the client, unique per connection.' });
const watchLane = (params: { watchId: string }): string => `watch:${params.watchId}`;

export const fsWatch = request({
  doc: 'Reports changes of a file or directory until `fs/unwatch` or the end of the connection.',
  extension: 'fsWatch',
  params: z.object({
    watchId: WatchId,
    path: FileUri.meta({ description: 'Need not exist; the directory that holds it must.' }),
    recursive: z
      .boolean()
      .nullish()
      .meta({ description: 'Everything below a directory as well. Default false.' }),
    debounceMs: Unsigned.nullish().meta({ description: 'Collect changes for this long. Default 0.' }),
    ...sandboxed,
  }),
  result: z.object({ path: FileUri }),
  orderedBy: watchLane,
});

export const fsUnwatch = request({
  doc: 'Ends a watch; nothing is reported for it after the answer. Unknown ids are fine.',
  extension: 'fsWatch',
  params: z.object({ watchId: WatchId }),
  result: Empty,
  orderedBy: watchLane,
});

export const fsChanged = notification({
  doc: 'What changed since the last report. A path appears once, with what became of it last.',
  extension: 'fsWatch',
  params: z.object({
    watchId: WatchId,
    changes: z.array(z.object({ path: FileUri, kind: z.enum(['changed', 'removed']) })),
    overflow: z.boolean().meta({ description: 'Some changes are not listed: look at everything again.' }),
  }),
});

export const fsSearch = request({
  doc: 'Lines that match, in files below a directory or in one file. Binary files are skipped.',
  extension: 'fsSearch',
  params: z.object({
    path: FileUri,
    pattern: z.string().min(1),
    regex: z.boolean().nullish().meta({ description: 'Default false: the pattern is taken as it stands.' }),
    caseSensitive: z.boolean().nullish().meta({ description: 'Default true.' }),
    globs: z
      .array(z.string())
      .max(256)
      .nullish()
      .meta({ description: 'File name patterns; a leading `!` leaves out.' }),
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
});
