import { z } from 'zod';
import { notification, request } from '../method.js';
import { Empty } from './file-common.js';

/** A TCP port that a program listens on. */
const ListeningPort = z.object({
  port: z.number().int().min(1).max(65_535),
  address: z.string().meta({ description: '`0.0.0.0` and `::` stand for every address.' }),
  pid: z.number().int().nullable().meta({ description: 'Null if it is none of the server’s processes.' }),
  processId: z.string().nullable().meta({
    description: 'The process it belongs to, even if it was left in the background; null if there is none.',
  }),
  sessionId: z
    .string()
    .optional()
    .meta({ description: 'The session of that process, if it is another one.' }),
  sandboxed: z.boolean().meta({ description: 'It listens in the network of a sandbox.' }),
});

const Scope = z
  .enum(['own', 'machine'])
  .nullish()
  .meta({
    description:
      '`own`: the processes of this session and the client’s kept ones. `machine`: also those of other sessions, and ' +
      'everything else that listens on the machine. Default `own`.',
  });

const Ports = z.object({
  ports: z.array(ListeningPort).meta({ description: 'By port. At most 1,024.' }),
});

const WatchId = z.string().max(256).meta({ description: 'Chosen by the client, unique per connection.' });
const watchLane = (params: { watchId: string }): string => `portWatch:${params.watchId}`;

export const portList = request({
  doc: 'Which programs listen on which TCP ports, in sandboxes with a network of their own too.',
  extension: 'ports',
  params: z.object({ scope: Scope }).nullish(),
  result: Ports,
  answerSize: 'list',
  idempotent: true,
});

export const portWatch = request({
  doc: 'Answers as `port/list` does, then reports changes until `port/unwatch` or the end of the connection.',
  extension: 'ports',
  params: z.object({ watchId: WatchId, scope: Scope }),
  result: Ports,
  orderedBy: watchLane,
});

export const portUnwatch = request({
  doc: 'Ends a watch; nothing is reported for it after the answer. Unknown ids are ignored.',
  extension: 'ports',
  params: z.object({ watchId: WatchId }),
  result: Empty,
  orderedBy: watchLane,
});

export const portOpened = notification({
  doc: 'A program listens on a port since at most 100 ms.',
  extension: 'ports',
  params: ListeningPort.extend({ watchId: WatchId }),
});

export const portClosed = notification({
  doc: 'Nothing listens there any more.',
  extension: 'ports',
  params: ListeningPort.extend({ watchId: WatchId }),
});
