import { z } from 'zod';
import { request } from '../method.js';
import { ProcessId, processLane, Unsigned } from './common.js';
import { SandboxType } from './sandbox.js';

/** How long a process may outlive the clients that use it. */
export const Lease = z.union([z.enum(['session', 'kept']), Unsigned]).meta({
  description:
    '`session`: it ends with its session. `kept`: it goes on until it is ended. A number: it ends this many ' +
    'milliseconds after the last client attached to it went.',
});
export type Lease = z.output<typeof Lease>;

/** Stands for a session in the list of a server’s processes, and in `process/terminate`: these belong to none. */
export const KEPT_SESSION = 'kept';

export const processAttach = request({
  doc:
    'Makes a kept process usable in this session, under its id. Its output is pushed from the given position; where ' +
    'numbers are missing, the client reads. Attaching again starts from the new position; write ids stay known.',
  extension: 'leases',
  params: z.object({
    processId: ProcessId,
    afterSeq: Unsigned.nullish().meta({
      description: 'Push what follows this number. Default 0: everything retained.',
    }),
    fromEnd: z.boolean().optional().meta({ description: 'Push only what comes from now on.' }),
    mayPause: z
      .boolean()
      .optional()
      .meta({
        description:
          'False: unread output of this client never makes the program wait; what it is too slow for is counted as ' +
          'lost. Default true, which has an effect for one client at a time: the first.',
      }),
  }),
  result: z.object({
    processId: ProcessId,
    tty: z.boolean(),
    lease: Lease,
    afterSeq: Unsigned.meta({ description: 'Where pushing begins.' }),
    nextSeq: Unsigned.meta({ description: 'The number the next entry of its log will get.' }),
    sandboxType: SandboxType.optional(),
  }),
  orderedBy: processLane,
  idempotent: true,
});

export const processDetach = request({
  doc: 'Lets go of a kept process: nothing is pushed any more, and it goes on as its lease says. Write ids are forgotten. Idempotent.',
  extension: 'leases',
  params: z.object({ processId: ProcessId }),
  result: z.object({}),
  orderedBy: processLane,
  idempotent: true,
  sessionBound: true,
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
  }),
  answeredAtEnd: true,
  idempotent: true,
});
