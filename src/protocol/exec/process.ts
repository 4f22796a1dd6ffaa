import { z } from 'zod';
import { notification, request } from '../method.js';
import {
  Chunk,
  FileUri,
  OutputStreamName,
  ProcessId,
  processLane,
  TerminalSize,
  Unsigned,
} from './common.js';
import { KEPT_SESSION, Lease } from './kept.js';
import { NetworkDenied } from './network.js';
import { ManagedNetwork, NetworkProxyLaunch } from './managed-network.js';
import { Sandbox, SandboxType } from './sandbox.js';

const Patterns = z
  .array(z.string())
  .meta({ description: 'Case-insensitive globs over variable names, with `*` and `?`.' });

/** Which of the server’s own variables a child inherits. Applied in the order of the fields. */
export const EnvPolicy = z.object({
  inherit: z.enum(['all', 'core', 'none']),
  ignoreDefaultExcludes: z
    .boolean()
    .meta({ description: 'False drops names that contain KEY, SECRET or TOKEN.' }),
  exclude: Patterns,
  set: z.record(z.string(), z.string()),
  includeOnly: Patterns.meta({ description: 'If not empty, everything else is dropped.' }),
});
export type EnvPolicy = z.input<typeof EnvPolicy>;

/** The same as Codex's: a scope is a thread and an environment. */
const MAX_SCOPE_BYTES = 256;

const ShellSnapshot = z
  .object({
    scopeId: z
      .string()
      .min(1)
      .refine((scope) => new TextEncoder().encode(scope).length <= MAX_SCOPE_BYTES, {
        message: `at most ${MAX_SCOPE_BYTES} bytes`,
      })
      .meta({ description: 'Starts with the same scope share the effects of a profile. 1 to 256 bytes.' }),
    shell: z.object({ name: z.string(), path: z.string() }),
  })
  .meta({
    description:
      'For a command `[shell.path, "-lc", …]`: run the bash profile once and give later shells the resulting state. ' +
      'Other commands run unchanged.',
  });

export const processStart = request({
  doc: 'Starts a program. Answered as soon as the child exists; its output follows as notifications.',
  params: z.object({
    processId: ProcessId,
    argv: z.array(z.string()).min(1).meta({ description: 'Program and arguments; no shell is involved.' }),
    cwd: FileUri.optional().meta({
      description: 'The working directory. May be absent with the extension `ahead`: then the server’s own.',
    }),
    env: z
      .record(z.string(), z.string())
      .meta({ description: 'The complete environment, or what is added to the result of `envPolicy`.' }),
    envPolicy: EnvPolicy.nullish(),
    tty: z.boolean().meta({ description: 'Run on a terminal instead of pipes.' }),
    pipeStdin: z.boolean().default(false).meta({ description: 'Keep stdin writable when `tty` is false.' }),
    arg0: z.string().nullish().meta({ description: 'The name passed to the program as its own.' }),
    size: TerminalSize.nullish().meta({ description: 'Terminal size. Default: 24 rows and 80 columns.' }),
    timeoutMs: Unsigned.nullish().meta({ description: 'Kill the whole process tree after this time.' }),
    lease: Lease.nullish().meta({
      description:
        'Extension `leases`: how long it may outlive its clients. Default `session`. A process with another lease is ' +
        'known by its id to all sessions of the same client.',
    }),
    sandbox: Sandbox.nullish(),
    enforceManagedNetwork: z.boolean().optional().meta({
      description: 'Allow only a proxy to be reached. Refused, because this server has none.',
    }),
    managedNetwork: ManagedNetwork.nullish().meta({ description: 'Ignored.' }),
    networkProxy: NetworkProxyLaunch.nullish().meta({
      description: 'A proxy to start for the process. Refused.',
    }),
    shellSnapshot: ShellSnapshot.nullish(),
    retain: z.enum(['memory', 'disk']).nullish().meta({
      description:
        'Extension `spool`: keep a tail of the output in memory, or all of it on disk, also after the end. Default `memory`.',
    }),
    onSlowReader: z
      .enum(['wait', 'spool'])
      .nullish()
      .meta({
        description:
          'Extension `spool`: with `spool`, a client that falls behind gets output from disk and the program does not wait. ' +
          'Default `wait`.',
      }),
    metadata: z
      .object({ threadId: z.guid(), toolCallId: z.string() })
      .nullish()
      .meta({ description: 'Informational.' }),
  }),
  result: z.object({ processId: ProcessId, sandboxType: SandboxType.optional() }),
  orderedBy: processLane,
});

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
          'What came before does not count as lost.',
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
  }),
  idempotent: true,
  sessionBound: true,
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
          description: 'Only the program for processes of other sessions, because arguments may be secret.',
        }),
        tty: z.boolean(),
        startedAtMs: Unsigned,
        exited: z.boolean(),
        exitCode: z.number().int().nullable(),
        closed: z.boolean(),
        lease: Lease.optional().meta({ description: 'Present if it is not `session`.' }),
        attached: Unsigned.optional().meta({ description: 'With `lease`: how many sessions use it.' }),
      }),
    ),
  }),
  idempotent: true,
  answerSize: 'list',
});

export const processAck = notification({
  doc: 'Acknowledges consumed output. Sent only if both sides announced `flowControl`.',
  extension: 'flowControl',
  params: z.object({ processId: ProcessId, seq: Unsigned }),
});

export const processOutput = notification({
  doc: 'A chunk of output. Numbers start at 1 per process and are shared with `exited` and `closed`.',
  params: z.object({ processId: ProcessId, seq: Unsigned, stream: OutputStreamName, chunk: Chunk }),
  bytes: { params: 'chunk' },
});

export const processExited = notification({
  doc: 'The direct child exited. Output from processes it left behind may still follow.',
  params: z.object({
    processId: ProcessId,
    seq: Unsigned,
    exitCode: z.number().int().meta({ description: 'Exit status, or 128 + n if killed by signal n.' }),
    sandboxDenied: z.boolean().optional(),
    signal: z
      .string()
      .nullish()
      .meta({ description: 'The signal that killed it. Not sent by other servers.' }),
    timedOut: z.boolean().optional(),
    networkDenied: NetworkDenied,
  }),
});

export const processClosed = notification({
  doc: 'The process has exited and its output is closed. Always the last event of a process.',
  params: z.object({ processId: ProcessId, seq: Unsigned }),
});
