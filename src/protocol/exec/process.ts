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
import { ManagedNetwork, NetworkProxyLaunch } from './managed-network.js';
import { Sandbox, SandboxType } from './sandbox.js';

const Patterns = z
  .array(z.string())
  .meta({ description: 'Case-insensitive globs over variable names, with `*` and `?`.' });

/** Which of the server’s own variables a child sees. Applied in the order of the fields. */
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

/** As Codex: a scope is a thread and an environment. */
const MAX_SCOPE_BYTES = 256;

const ShellSnapshot = z
  .object({
    scopeId: z
      .string()
      .min(1)
      .refine((scope) => new TextEncoder().encode(scope).length <= MAX_SCOPE_BYTES, {
        message: `at most ${MAX_SCOPE_BYTES} bytes`,
      })
      .meta({ description: 'Starts of one scope share what a profile did. 1 to 256 bytes.' }),
    shell: z.object({ name: z.string(), path: z.string() }),
  })
  .meta({
    description:
      'Of a command `[shell.path, "-lc", …]`: run the profile of bash once, and give later shells the state it left. ' +
      'Anything else runs unchanged.',
  });

export const processStart = request({
  doc: 'Starts a program. The answer comes as soon as the child exists; its output follows as notifications.',
  params: z.object({
    processId: ProcessId,
    argv: z.array(z.string()).min(1).meta({ description: 'Program and arguments; no shell is involved.' }),
    cwd: FileUri.optional().meta({
      description:
        'Where it runs. May be absent with the extension `ahead`: then where the server itself runs.',
    }),
    env: z
      .record(z.string(), z.string())
      .meta({ description: 'The whole environment, or what is laid over `envPolicy`.' }),
    envPolicy: EnvPolicy.nullish(),
    tty: z.boolean().meta({ description: 'Run on a terminal instead of pipes.' }),
    pipeStdin: z.boolean().default(false).meta({ description: 'Keep stdin writable when `tty` is false.' }),
    arg0: z.string().nullish().meta({ description: 'What the program sees as its name.' }),
    size: TerminalSize.nullish().meta({ description: 'Terminal size; 24 rows and 80 columns when absent.' }),
    timeoutMs: Unsigned.nullish().meta({ description: 'Kill the whole tree after this time.' }),
    sandbox: Sandbox.nullish(),
    enforceManagedNetwork: z.boolean().optional().meta({
      description: 'Only a proxy may be reached. Refused here: there is none.',
    }),
    managedNetwork: ManagedNetwork.nullish().meta({ description: 'Of no effect here.' }),
    networkProxy: NetworkProxyLaunch.nullish().meta({
      description: 'A proxy to start beside the process. Refused here.',
    }),
    shellSnapshot: ShellSnapshot.nullish(),
    metadata: z
      .object({ threadId: z.guid(), toolCallId: z.string() })
      .nullish()
      .meta({ description: 'Informational.' }),
  }),
  result: z.object({ processId: ProcessId, sandboxType: SandboxType.optional() }),
  orderedBy: processLane,
});

export const processRead = request({
  doc: 'Looks at the retained output after a cursor. Reading never consumes.',
  params: z.object({
    processId: ProcessId,
    afterSeq: Unsigned.nullish().meta({ description: 'Only what comes after this number. Default 0.' }),
    maxBytes: Unsigned.nullish().meta({
      description: 'Stop after this many decoded bytes, between chunks. The first chunk is always returned.',
    }),
    waitMs: Unsigned.nullish().meta({ description: 'Wait this long for something new. Default 0.' }),
  }),
  result: z.object({
    chunks: z.array(
      z.object({
        seq: Unsigned,
        stream: OutputStreamName,
        chunk: Chunk,
        lostBytes: Unsigned.optional().meta({
          description: 'Present when output directly before this chunk was let go: how many bytes.',
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
    'Extension `stdinWindow`: the `writeId` this comes behind. Unless that one was accepted this is refused with `stdinFull`.',
});

export const processWrite = request({
  doc: 'Writes bytes to stdin. Accepted means queued, in order, behind earlier writes.',
  params: z.object({
    processId: ProcessId,
    chunk: Chunk,
    writeId: z
      .string()
      .min(1)
      .meta({ description: 'Identifies a retry: bytes under a known id are not written again.' }),
    after: AfterWrite,
  }),
  result: z.object({ status: z.enum(['accepted', 'unknownProcess', 'stdinClosed', 'starting']) }),
  orderedBy: processLane,
  bytes: { params: 'chunk' },
  idempotent: true,
  sessionBound: true,
});

export const processSignal = request({
  doc: 'Sends a signal to the process group. Unknown and finished processes are left alone without an error.',
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
  doc: 'Kills the process with everything it started. `running` is false when there was nothing left to kill.',
  params: z.object({
    processId: ProcessId,
    graceMs: Unsigned.nullish().meta({
      description: 'Send SIGTERM first and kill after this time. Absent: kill at once.',
    }),
    sessionId: z.string().nullish().meta({
      description: 'Extension `serverProcesses`: whose process is meant. Default: the session’s own.',
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
  doc: 'Ends stdin behind the writes before it. On a terminal the end-of-file character is typed. Closing twice is fine.',
  extension: 'processCloseStdin',
  params: z.object({ processId: ProcessId, after: AfterWrite }),
  result: z.object({}),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
});

export const processInspect = request({
  doc: 'Tells whether the program waits for its terminal. `state` is null where that is not known.',
  extension: 'processInspect',
  params: z.object({ processId: ProcessId }),
  result: z.object({
    state: z
      .object({
        waitsForInput: z.boolean(),
        echo: z.boolean().meta({ description: 'False while a typed line would not be shown.' }),
      })
      .nullable(),
  }),
});

export const processList = request({
  doc: 'Lists the session’s processes, finished ones included while they are retained.',
  extension: 'processList',
  params: z
    .union([
      z.null(),
      z.strictObject({
        scope: z.enum(['session', 'server']).nullish().meta({
          description:
            'Extension `serverProcesses`: `server` lists those of every session. Default `session`.',
        }),
      }),
    ])
    .default(null),
  result: z.object({
    processes: z.array(
      z.object({
        processId: ProcessId,
        sessionId: z.string().optional().meta({ description: 'Only with the scope `server`.' }),
        pid: z.number().int().nullable(),
        argv: z
          .array(z.string())
          .meta({ description: 'Of other sessions’ processes only the program: arguments may be secret.' }),
        tty: z.boolean(),
        startedAtMs: Unsigned,
        exited: z.boolean(),
        exitCode: z.number().int().nullable(),
        closed: z.boolean(),
      }),
    ),
  }),
  idempotent: true,
  answerSize: 'list',
});

export const processAck = notification({
  doc: 'Tells how far output was consumed. Sent only when both sides announced `flowControl`.',
  extension: 'flowControl',
  params: z.object({ processId: ProcessId, seq: Unsigned }),
});

export const processOutput = notification({
  doc: 'A piece of output. Numbers count up from 1 per process and are shared with `exited` and `closed`.',
  params: z.object({ processId: ProcessId, seq: Unsigned, stream: OutputStreamName, chunk: Chunk }),
  bytes: { params: 'chunk' },
});

export const processExited = notification({
  doc: 'The direct child ended. Output of what it left behind may still follow.',
  params: z.object({
    processId: ProcessId,
    seq: Unsigned,
    exitCode: z.number().int().meta({ description: 'Exit status, or 128 + n after signal n.' }),
    sandboxDenied: z.boolean().optional(),
    signal: z
      .string()
      .nullish()
      .meta({ description: 'The signal that killed it; absent from other servers.' }),
    timedOut: z.boolean().optional(),
  }),
});

export const processClosed = notification({
  doc: 'Exited, and nothing holds its output any more. Always the last event of a process.',
  params: z.object({ processId: ProcessId, seq: Unsigned }),
});
