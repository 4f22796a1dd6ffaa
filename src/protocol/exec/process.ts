import { z } from 'zod';
import { request } from '../method.js';
import {
  Chunk,
  FileUri,
  OutputStreamName,
  ProcessId,
  processLane,
  ProcessUsage,
  TerminalSize,
  Unsigned,
} from './common.js';
import { exitExtras } from './exit-extras.js';
import { KEPT_SESSION, Lease } from './kept.js';
import { SandboxType } from './sandbox.js';

export const processRead = request({
  doc: 'Reads retained output after a position, without consuming it.',
  params: z.object({
    processId: ProcessId,
    afterSeq: Unsigned.nullish().meta({ description: 'Only entries after this number. Default 0.' }),
    maxBytes: Unsigned.nullish().meta({
      description:
        'Stop after this many decoded bytes, at a chunk boundary. The first chunk is always returned.',
    }),
    waitMs: Unsigned.nullish().meta({ description: 'Wait up to this long for something new. Default 0.' }),
    sinceMs: z
      .number()
      .nullish()
      .meta({
        description:
          'Extension `processLines`: only entries from this time on, in milliseconds since 1970; negative: before now. ' +
          'Earlier output does not count as lost.',
      }),
  }),
  result: z.object({
    chunks: z.array(
      z.object({
        seq: Unsigned,
        stream: OutputStreamName,
        chunk: Chunk,
        lostBytes: Unsigned.optional().meta({
          description: 'Bytes discarded directly before this chunk. Absent if none.',
        }),
      }),
    ),
    nextSeq: Unsigned.meta({ description: 'Continue with `afterSeq = nextSeq - 1`.' }),
    exited: z.boolean(),
    exitCode: z.number().int().nullable(),
    closed: z.boolean(),
    failure: z.string().nullable(),
    sandboxDenied: z.boolean().optional(),
    signal: z.string().nullish().meta({ description: 'The signal that killed the process.' }),
    timedOut: z.boolean().optional(),
    ...exitExtras,
  }),
  idempotent: true,
  sessionBound: true,
  viewing: 'process',
});

const AfterWrite = z.string().nullish().meta({
  description:
    'Extension `stdinWindow`: the `writeId` this must follow. Refused with `stdinFull` unless that one was accepted.',
});

export const processWrite = request({
  doc: 'Writes bytes to stdin. Accepted means queued, in order, behind earlier writes.',
  params: z.object({
    processId: ProcessId,
    chunk: Chunk,
    writeId: z
      .string()
      .min(1)
      .meta({ description: 'Identifies retries: bytes with a known id are not written again.' }),
    after: AfterWrite,
  }),
  result: z.object({ status: z.enum(['accepted', 'unknownProcess', 'stdinClosed', 'starting']) }),
  orderedBy: processLane,
  bytes: { params: 'chunk' },
  idempotent: true,
  sessionBound: true,
});

export const processSignal = request({
  doc: 'Sends a signal to the process group. Unknown and finished processes are ignored.',
  params: z.object({
    processId: ProcessId,
    signal: z
      .string()
      .regex(/^(interrupt|SIG[A-Z0-9+]+)$/)
      .meta({ description: '`interrupt`, or a POSIX name such as `SIGTERM`.' }),
    sessionId: z
      .string()
      .nullish()
      .meta({
        description:
          'Extension `serverSignals`: the session that owns the process, or ' +
          `\`${KEPT_SESSION}\`. Default: the caller’s own.`,
      }),
  }),
  result: z.object({}),
  orderedBy: processLane,
  sessionBound: true,
});

export const processTerminate = request({
  doc: 'Kills the process and everything it started. `running` is false if there was nothing left to kill.',
  params: z.object({
    processId: ProcessId,
    graceMs: Unsigned.nullish().meta({
      description: 'Send SIGTERM first and kill after this time. Absent: kill immediately.',
    }),
    sessionId: z
      .string()
      .nullish()
      .meta({
        description:
          'Extension `serverProcesses`: the session that owns the process, or ' +
          `\`${KEPT_SESSION}\`. Default: the caller’s own.`,
      }),
  }),
  result: z.object({ running: z.boolean() }),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
});

export const processResize = request({
  doc: 'Changes the size of the terminal.',
  extension: 'processResize',
  params: z.object({ processId: ProcessId, size: TerminalSize }),
  result: z.object({}),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
});

export const processCloseStdin = request({
  doc: 'Closes stdin after the preceding writes. On a terminal, types the end-of-file character. Idempotent.',
  extension: 'processCloseStdin',
  params: z.object({ processId: ProcessId, after: AfterWrite }),
  result: z.object({}),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
});

export const processInspect = request({
  doc: 'Reports whether the program is waiting for terminal input. `state` is null if that is unknown.',
  extension: 'processInspect',
  params: z.object({ processId: ProcessId }),
  result: z.object({
    state: z
      .object({
        waitsForInput: z.boolean(),
        echo: z.boolean().meta({ description: 'False while typed text would not be shown.' }),
      })
      .nullable(),
  }),
  viewing: 'machine',
});

const ProcessDetails = z.object({
  cwd: FileUri.optional().meta({
    description: 'Where it was started. Absent if that is no longer known.',
  }),
  clientName: z.string().meta({ description: 'The name of the client that started it. May be empty.' }),
  sandboxType: SandboxType,
  recorded: z
    .boolean()
    .meta({ description: 'Its output is kept on disk, and `process/history` returns all of it.' }),
  endedAtMs: Unsigned.nullable().meta({ description: 'When it exited. Null while it runs, or if unknown.' }),
  signal: z.string().nullable().meta({ description: 'The signal that killed it.' }),
  timedOut: z.boolean(),
  outputBytes: Unsigned.optional().meta({ description: 'What it has printed so far.' }),
  usage: ProcessUsage.optional().meta({ description: 'What it cost. Absent while it runs, or if unknown.' }),
  waitsForInput: z.boolean().nullable().meta({
    description:
      'Its terminal waits until somebody types. Null without a terminal, if unknown, and for all but the 256 newest terminals.',
  }),
});

export const processList = request({
  doc: 'Lists the session’s processes, including finished ones while they are retained.',
  extension: 'processList',
  params: z
    .union([
      z.null(),
      z.strictObject({
        scope: z.enum(['session', 'server']).nullish().meta({
          description:
            'Extension `serverProcesses`: `server` lists the processes of all sessions. Default `session`.',
        }),
        details: z.boolean().nullish().meta({
          description: 'Extension `processDetails`: answer with more about each process. Default false.',
        }),
      }),
    ])
    .default(null),
  result: z.object({
    processes: z.array(
      z.object({
        processId: ProcessId,
        sessionId: z
          .string()
          .optional()
          .meta({
            description: `Only with scope \`server\`. \`${KEPT_SESSION}\` for a process with a lease: those are listed only to the client they belong to.`,
          }),
        pid: z.number().int().nullable(),
        argv: z.array(z.string()).meta({
          description:
            'Only the program for processes of other sessions, because arguments may be secret; with `details`, for ' +
            'processes of other clients.',
        }),
        tty: z.boolean(),
        startedAtMs: Unsigned,
        exited: z.boolean(),
        exitCode: z.number().int().nullable(),
        closed: z.boolean(),
        lease: Lease.optional().meta({ description: 'Present if it is not `session`.' }),
        attached: Unsigned.optional().meta({ description: 'With `lease`: how many sessions use it.' }),
        details: ProcessDetails.optional().meta({
          description: 'Present if it was asked for and the process belongs to the same client.',
        }),
      }),
    ),
  }),
  idempotent: true,
  answerSize: 'list',
  viewing: 'process',
});
