import { z } from 'zod';
import { request } from '../method.js';
import { Chunk, OutputStreamName, ProcessId, TerminalSize, Unsigned } from './common.js';

const TimeMs = Unsigned.meta({
  description: 'Milliseconds since 1970. Never runs backwards within a history.',
});

const HistoryEvent = z.union([
  z.object({
    type: z.literal('output'),
    timeMs: TimeMs,
    seq: Unsigned,
    stream: OutputStreamName,
    chunk: Chunk,
  }),
  z
    .object({ type: z.literal('resize'), timeMs: TimeMs, size: TerminalSize })
    .meta({ description: 'The terminal was resized.' }),
  z
    .object({ type: z.literal('gap'), timeMs: TimeMs, lostBytes: Unsigned })
    .meta({ description: 'This many bytes of output are missing here.' }),
]);

export const processHistory = request({
  doc:
    'Reads what happened to a process whose output is on disk, piece by piece: output, resizes and gaps, with their times. ' +
    'For the same processes as `process/read`. Output that is only in memory has no history: the error is `notRecorded`.',
  extension: 'history',
  params: z.object({
    processId: ProcessId,
    position: z.string().nullish().meta({
      description: 'Where to continue: the `position` of an earlier answer. Default: the beginning.',
    }),
    maxBytes: Unsigned.nullish().meta({
      description:
        'Stop after this many decoded bytes, at a chunk boundary. The first chunk is always returned. At most 4 MiB, which is ' +
        'the default.',
    }),
    waitMs: Unsigned.nullish().meta({ description: 'Wait up to this long for something new. Default 0.' }),
  }),
  result: z.object({
    startedAtMs: Unsigned,
    tty: z.boolean(),
    size: TerminalSize.nullable().meta({ description: 'The first size of the terminal; null without one.' }),
    events: z.array(HistoryEvent),
    position: z.string().meta({ description: 'Where the next piece begins.' }),
    lastSeq: Unsigned.meta({ description: 'The number of the newest output at this moment.' }),
    complete: z.boolean().meta({ description: 'The process has closed, and nothing follows.' }),
    end: z
      .object({
        timeMs: TimeMs,
        exitCode: z.number().int().meta({ description: 'Exit status, or 128 + n if killed by signal n.' }),
        signal: z.string().nullable().meta({ description: 'The signal that killed it.' }),
        timedOut: z.boolean(),
      })
      .nullable()
      .meta({
        description: 'Null while the process runs, and forever if its server died before the process ended.',
      }),
  }),
  idempotent: true,
  sessionBound: true,
  viewing: 'machine',
});
