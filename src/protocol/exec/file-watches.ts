import { z } from 'zod';
import { notification, request } from '../method.js';
import { FileUri, Unsigned } from './common.js';
import { Empty, sandboxed } from './file-common.js';

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
