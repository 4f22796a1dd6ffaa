import { z } from 'zod';
import { notification, request } from '../method.js';
import { Chunk, ProcessId, processLane, TerminalSize, Unsigned } from './common.js';
import { exitExtras } from './exit-extras.js';
import { SandboxType } from './sandbox.js';

/** How long a process may outlive the clients that use it. */
export const Lease = z.union([z.enum(['session', 'kept']), Unsigned]).meta({
  description:
    '`session`: it ends with its session. `kept`: it runs until it is ended. A number: it ends this many milliseconds ' +
    'after its last attached client has gone.',
});
export type Lease = z.output<typeof Lease>;

/** How a client uses a kept process beside others. */
const Keyboard = z.enum(['take', 'ifFree', 'none', 'view']).meta({
  description:
    '`take`: type from now on, whoever did so before. `ifFree`: only if no connected client does. `none`: not yet. `view`: never; ' +
    'everything that would change the process is refused with `viewOnly`. Absent: the keyboard is taken by typing.',
});

const Screen = z.object({
  chunk: Chunk.meta({
    description:
      'Write this to a fresh terminal of this size to show the screen; the output that follows continues from there.',
  }),
  size: TerminalSize,
  alternate: z.boolean().meta({ description: 'A full-screen program is using the screen.' }),
});

/** Stands for a session in the list of a server’s processes, and in `process/terminate`: these belong to none. */
export const KEPT_SESSION = 'kept';

export const processAttach = request({
  doc:
    'Makes a kept process usable in this session, under its id. Its output is pushed from the given position; if ' +
    'numbers are missing, the client reads that output. Attaching again starts from the new position; write ids stay known. ' +
    'If the process has exited, pushing begins before its exit at the latest, so that every client learns how it ended.',
  extension: 'leases',
  params: z.object({
    processId: ProcessId,
    sessionId: z
      .string()
      .nullish()
      .meta({
        description:
          'Extension `sessionViewers`: the session of this client that owns the process, if it has no lease. It ends with that ' +
          'session, never waits for this client, and its owner may always type. Default: a kept process.',
      }),
    afterSeq: Unsigned.nullish().meta({
      description: 'Push what follows this number. Default 0: everything retained.',
    }),
    fromEnd: z.boolean().optional().meta({ description: 'Push only output from now on.' }),
    mayPause: z
      .boolean()
      .optional()
      .meta({
        description:
          'False: unread output of this client never makes the program wait; output that it is too slow to read is ' +
          'counted as lost. Default true, which has an effect for one client at a time: the first.',
      }),
    keyboard: Keyboard.nullish().meta({
      description: 'Extension `viewers`: who types. ' + (Keyboard.description ?? ''),
    }),
    tail: z
      .union([z.strictObject({ bytes: Unsigned }), z.strictObject({ lines: Unsigned })])
      .nullish()
      .meta({
        description:
          'Extension `viewers`: begin with the last output, as far as the server has it in memory, rounded up to whole chunks.',
      }),
    screen: z
      .boolean()
      .nullish()
      .meta({
        description:
          'Extension `viewers`: answer with the screen of the terminal and push what follows. A client that falls more ' +
          'than 1 MiB behind is not sent what it missed: if numbers are missing, it attaches again.',
      }),
  }),
  result: z.object({
    processId: ProcessId,
    tty: z.boolean(),
    lease: Lease,
    afterSeq: Unsigned.meta({ description: 'Where pushing begins.' }),
    nextSeq: Unsigned.meta({ description: 'The number of the next entry of its log.' }),
    sandboxType: SandboxType.optional(),
    holds: z.boolean().optional().meta({ description: 'With `keyboard`: whether this client has it now.' }),
    screen: Screen.nullish().meta({
      description:
        'With `screen`: what it shows; null if it has none. Then output is pushed from the last MiB on.',
    }),
  }),
  orderedBy: processLane,
  idempotent: true,
  viewing: 'process',
});

export const processKeyboard = request({
  doc:
    'Who types to a kept process, for a client that is attached. `take` and `ask` are refused with `viewOnly` if it only views. ' +
    'Answers whether the client has the keyboard now.',
  extension: 'viewers',
  params: z.object({
    processId: ProcessId,
    action: z.enum(['take', 'ask', 'give', 'look']).meta({
      description:
        '`take`: take it at once. `ask`: take it if it is free; otherwise notify its holder. `give`: release it. ' +
        '`look`: only answer.',
    }),
    to: Unsigned.nullish().meta({ description: 'With `give`: who gets it, as in `process/keyboardAsked`.' }),
  }),
  result: z.object({
    holds: z.boolean(),
    free: z.boolean().meta({ description: 'Nobody has it.' }),
  }),
  orderedBy: processLane,
  sessionBound: true,
  idempotent: true,
});

const ShareRow = z.object({
  shareId: z.string(),
  processId: ProcessId,
  expiresInMs: Unsigned,
});

export const processShare = request({
  doc:
    'Makes a token whose bearer may view one kept process of this client, and do nothing else. The server keeps only its hash: ' +
    'it cannot be asked for again.',
  extension: 'shares',
  params: z.object({
    processId: ProcessId,
    forMs: Unsigned.nullish().meta({ description: 'How long it is valid. Default: a day; at most 30.' }),
  }),
  result: ShareRow.extend({ token: z.string() }),
});

export const processShares = request({
  doc: 'Lists the shares of this client.',
  extension: 'shares',
  params: z.union([z.null(), z.looseObject({})]).default(null),
  result: z.object({ shares: z.array(ShareRow) }),
  idempotent: true,
  answerSize: 'list',
});

export const processUnshare = request({
  doc: 'Ends a share at once, and closes the connections that use it. `revoked` is false if there is none.',
  extension: 'shares',
  params: z.object({ shareId: z.string() }),
  result: z.object({ revoked: z.boolean() }),
  idempotent: true,
});

export const processKeyboardAsked = notification({
  doc: 'Another client asks for the keyboard this one has. Sent only to clients that attached with `keyboard`, or used `process/keyboard`.',
  extension: 'viewers',
  params: z.object({ processId: ProcessId, by: Unsigned }),
});

export const processKeyboardChanged = notification({
  doc: 'This client has gained the keyboard, or lost it to another. Sent to the same clients as `process/keyboardAsked`.',
  extension: 'viewers',
  params: z.object({ processId: ProcessId, holds: z.boolean() }),
});

export const processResized = notification({
  doc: 'The terminal was resized; sent to clients that attached with `screen`.',
  extension: 'viewers',
  params: z.object({
    processId: ProcessId,
    size: TerminalSize,
    afterSeq: Unsigned.meta({ description: 'The output up to this number was printed before.' }),
  }),
});

export const processDetach = request({
  doc: 'Detaches from a kept process: nothing is pushed any more, and the process continues as its lease says. Write ids are forgotten. Idempotent.',
  extension: 'leases',
  params: z.object({ processId: ProcessId }),
  result: z.object({}),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
  viewing: 'process',
});

export const processWait = request({
  doc:
    'Answers once, when the process has exited and its output is closed, or at once if that is the case already. ' +
    'For processes of the session and for kept ones, attached or not.',
  extension: 'leases',
  params: z.object({ processId: ProcessId }),
  result: z.object({
    exitCode: z.number().int().meta({ description: 'Exit status, or 128 + n if killed by signal n.' }),
    signal: z.string().nullable().meta({ description: 'The signal that killed it.' }),
    timedOut: z.boolean(),
    sandboxDenied: z.boolean(),
    ...exitExtras,
  }),
  answeredAtEnd: true,
  idempotent: true,
  viewing: 'process',
});
