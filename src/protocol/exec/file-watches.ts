import { z } from 'zod';
import { notification, request } from '../method.js';
import { FileUri, Unsigned } from './common.js';
import { Empty, sandboxed } from './file-common.js';

export const fsWatchMissing = request({
  doc: 'Waits for paths to appear. A connection’s new watch replaces the previous one.',
  params: z.object({
    watchId: Unsigned.meta({ description: 'Must increase within a connection.' }),
    missing: z.array(FileUri),
    present: FileUri.nullish().meta({ description: 'Also wait for this path to change or disappear.' }),
  }),
  result: z.object({
    watching: z.boolean().meta({ description: 'False if there is nothing to wait for.' }),
  }),
  orderedBy: () => 'watchMissing',
});

export const fsMissingChanged = notification({
  doc: 'Something a watch waited for happened. The watch has ended.',
  params: z.object({ watchId: Unsigned }),
});

const WatchId = z.string().max(256).meta({ description: 'Chosen by the client, unique per connection.' });
const watchLane = (params: { watchId: string }): string => `watch:${params.watchId}`;

export const fsWatch = request({
  doc: 'Reports changes of a file or directory until `fs/unwatch` or the end of the connection.',
  extension: 'fsWatch',
  params: z.object({
    watchId: WatchId,
    path: FileUri.meta({ description: 'Need not exist, but its directory must.' }),
    recursive: z
      .boolean()
      .nullish()
      .meta({ description: 'Also watch everything below a directory. Default false.' }),
    debounceMs: Unsigned.nullish().meta({ description: 'Collect changes for this long. Default 0.' }),
    ...sandboxed,
  }),
  result: z.object({ path: FileUri }),
  orderedBy: watchLane,
});

export const fsUnwatch = request({
  doc: 'Ends a watch; nothing is reported for it after the answer. Unknown ids are ignored.',
  extension: 'fsWatch',
  params: z.object({ watchId: WatchId }),
  result: Empty,
  orderedBy: watchLane,
});

export const fsChanged = notification({
  doc: 'Changes since the last report. A path appears once, with its latest state.',
  extension: 'fsWatch',
  params: z.object({
    watchId: WatchId,
    changes: z.array(z.object({ path: FileUri, kind: z.enum(['changed', 'removed']) })),
    overflow: z.boolean().meta({ description: 'Some changes are not listed: check everything again.' }),
  }),
});
