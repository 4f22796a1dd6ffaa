import { z } from 'zod';
import { notification, request } from '../method.js';
import { Chunk, Unsigned } from './common.js';
import { Empty } from './file-common.js';

/** A TCP port that a program listens on. */
const ListeningPort = z.object({
  port: z.number().int().min(1).max(65_535),
  address: z.string().meta({ description: '`0.0.0.0` and `::` mean every address.' }),
  pid: z.number().int().nullable().meta({ description: 'Null if it is not one of the server’s processes.' }),
  processId: z.string().nullable().meta({
    description: 'The process it belongs to, even if it was left in the background; null if there is none.',
  }),
  sessionId: z
    .string()
    .optional()
    .meta({ description: 'The session of that process, if it is not this one.' }),
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
  doc: 'Lists which programs listen on which TCP ports, including those in sandboxes with a network of their own.',
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
  doc: 'A program has begun to listen on a port. On a machine that is not overloaded, this arrives within 100 ms.',
  extension: 'ports',
  params: ListeningPort.extend({ watchId: WatchId }),
});

export const portClosed = notification({
  doc: 'Nothing listens there any more.',
  extension: 'ports',
  params: ListeningPort.extend({ watchId: WatchId }),
});

const StreamId = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Chosen by the client, unique per session, never used again.' });
const Offset = Unsigned.meta({
  description: 'Bytes are counted from 0 in each direction. The end of a direction counts as one byte.',
});

export const portConnect = request({
  doc:
    'Connects to a port of the machine or of a sandbox. Data may follow at once, before the answer. Repeating it with the same ' +
    'id has no effect.',
  extension: 'ports',
  params: z.object({
    streamId: StreamId,
    port: z.number().int().min(1).max(65_535),
    processId: z
      .string()
      .nullish()
      .meta({ description: 'Only if a process with this id, or something it left behind, listens there.' }),
    ownOnly: z.boolean().nullish().meta({
      description:
        'Only if a process of this session listens there. Default false: anything on this machine.',
    }),
  }),
  result: z.object({
    address: z.string(),
    processId: z.string().nullable(),
    sandboxed: z.boolean(),
    received: Offset.meta({
      description: 'How many bytes of the data sent right behind the request have arrived.',
    }),
  }),
  idempotent: true,
  sessionBound: true,
});

export const portResume = request({
  doc:
    'After the session was resumed: names the streams that continue, and how much of each has arrived. The others end. ' +
    'Both sides then resend what the other has not received.',
  extension: 'ports',
  params: z.object({ streams: z.array(z.object({ streamId: StreamId, received: Offset })).max(1_024) }),
  result: z.object({
    streams: z.array(z.object({ streamId: StreamId, received: Offset })).meta({
      description: 'Those that continue. The others are gone.',
    }),
  }),
  idempotent: true,
  sessionBound: true,
});

export const portData = notification({
  doc:
    'Bytes of a stream, in either direction. At most 128 KiB may be unacknowledged at first, and up to 8 MiB once ' +
    'acknowledgements show that the line carries that much.',
  extension: 'ports',
  params: z.object({
    streamId: StreamId,
    offset: Offset,
    chunk: Chunk,
    end: z.boolean().optional().meta({ description: 'Nothing more follows in this direction.' }),
  }),
  bytes: { params: 'chunk' },
});

export const portAck = notification({
  doc: 'The reader has consumed everything before this offset. Sent at least every 64 KiB, and at the end.',
  extension: 'ports',
  params: z.object({ streamId: StreamId, offset: Offset }),
});

export const portReset = notification({
  doc: 'The stream is over in both directions. What is in flight is lost.',
  extension: 'ports',
  params: z.object({ streamId: StreamId, code: z.string(), message: z.string() }),
});
