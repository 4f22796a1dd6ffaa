import { z } from 'zod';
import { ChangesId } from '../exec/changes.js';
import { notification, request } from '../method.js';
import { AbsolutePath, Base64, Empty, TargetEnvironment } from './common.js';

/** Experimental. */
const HeldFiles = ChangesId.nullish().meta({
  description:
    'The files as this set of held changes has them, under the policy of the last `command/exec` of this connection in it. ' +
    'Absent: as they are. Requires `experimentalApi`.',
});
const experimental = ['changesId'] as const;

const WatchedPath = z.object({ path: AbsolutePath, environmentId: TargetEnvironment });
const OnePath = WatchedPath.extend({ changesId: HeldFiles });

const Flag = (fallback: boolean, description: string) =>
  z
    .boolean()
    .nullish()
    .meta({ description: `${description} Default ${String(fallback)}.` });

const WatchId = z
  .string()
  .meta({ description: 'Chosen by the client; identifies the watch on this connection.' });

export const fsReadFile = request({
  doc: 'Reads a regular file, up to 384 MiB.',
  params: OnePath,
  result: z.object({ dataBase64: Base64.meta({ description: 'The whole content.' }) }),
  base64: { result: 'dataBase64' },
  answerSize: 'large',
  experimental,
});

export const fsWriteFile = request({
  doc: 'Creates or overwrites a file. Its directory must exist.',
  params: OnePath.extend({ dataBase64: Base64.meta({ description: 'The whole content.' }) }),
  result: Empty,
  base64: { params: 'dataBase64' },
  experimental,
});

export const fsCreateDirectory = request({
  doc: 'Makes a directory.',
  params: OnePath.extend({
    recursive: Flag(true, 'Also create parents and accept an existing directory.'),
  }),
  result: Empty,
  experimental,
});

export const fsGetMetadata = request({
  doc: 'Describes a path. Everything but `isSymlink` describes the target of a link.',
  params: OnePath,
  result: z.object({
    isDirectory: z.boolean(),
    isFile: z.boolean(),
    isSymlink: z.boolean().meta({ description: 'Whether the path itself is a link.' }),
    createdAtMs: z.number().meta({ description: '0 if the machine does not report it.' }),
    modifiedAtMs: z.number(),
  }),
  experimental,
});

export const fsReadDirectory = request({
  doc: 'Lists a directory, unordered. Links count as their target.',
  params: OnePath,
  result: z.object({
    entries: z.array(
      z.object({
        fileName: z.string().meta({ description: 'Bytes that are not UTF-8 appear as U+FFFD.' }),
        isDirectory: z.boolean(),
        isFile: z.boolean(),
      }),
    ),
  }),
  answerSize: 'large',
  experimental,
});

export const fsRemove = request({
  doc: 'Removes a file, a link (never its target) or a directory.',
  params: OnePath.extend({
    recursive: Flag(true, 'Also remove the contents of a directory.'),
    force: Flag(true, 'Ignore a missing path.'),
  }),
  result: Empty,
  experimental,
});

export const fsCopy = request({
  doc: 'Copies. Files overwrite, directories merge, links are copied as links, permissions are kept.',
  params: z.object({
    sourcePath: AbsolutePath,
    destinationPath: AbsolutePath,
    recursive: z.boolean().default(false).meta({ description: 'Needed for directories.' }),
    environmentId: TargetEnvironment,
    changesId: HeldFiles,
  }),
  result: Empty,
  experimental,
});

const watchLane = (params: { watchId: string }): string => `watch:${params.watchId}`;

export const fsWatch = request({
  doc: 'Watches the entries of a directory, or a file, even if it does not exist yet or is replaced.',
  params: WatchedPath.extend({ watchId: WatchId }),
  result: z.object({ path: z.string().meta({ description: 'The path with dot segments resolved.' }) }),
  orderedBy: watchLane,
});

export const fsUnwatch = request({
  doc: 'Ends a watch; nothing is reported for it after the answer. Unknown ids are ignored.',
  params: z.object({ watchId: WatchId }),
  result: Empty,
  orderedBy: watchLane,
  control: true,
});

export const fsChanged = notification({
  doc: 'Something under a watch changed. Changes are collected for about 200 ms.',
  params: z.object({
    watchId: WatchId,
    changedPaths: z.array(z.string()).meta({
      description:
        'Absolute, sorted. The watched path alone may mean that there were too many changes to list.',
    }),
  }),
});
