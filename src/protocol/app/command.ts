import { z } from 'zod';
import { notification, request } from '../method.js';
import { HeldCommand } from './changes.js';
import { Count, Empty, EnvironmentOverrides, Integer, Size, TargetEnvironment } from './common.js';
import { InitialSize, OnTerminal, OutputPiece, ProgramArgv, StdinPiece } from './program-fields.js';
import { AppSandboxPolicy } from './sandbox-policy.js';

const ActiveProcessId = z.string().meta({ description: 'The `processId` of a running `command/exec`.' });

const lane = (params: { processId?: string | null | undefined }): string | undefined =>
  params.processId == null ? undefined : `command:${params.processId}`;

export const commandExec = request({
  doc: 'Runs a program to completion. Answered after all of its output.',
  params: z.object({
    command: ProgramArgv,
    processId: z.string().nullish().meta({
      description:
        'Identifies the program for the other `command/exec/*` methods on this connection. Required for streaming.',
    }),
    tty: OnTerminal,
    streamStdin: z
      .boolean()
      .default(false)
      .meta({ description: 'Keep stdin open for `command/exec/write`. Otherwise it is empty.' }),
    streamStdoutStderr: z.boolean().default(false).meta({
      description: 'Send output as `command/exec/outputDelta` instead of in the result.',
    }),
    outputBytesCap: Count.nullish().meta({
      description: 'Bytes kept per stream; more is read and discarded. Default 1048576.',
    }),
    disableOutputCap: z
      .boolean()
      .default(false)
      .meta({ description: 'No cap. Cannot be combined with `outputBytesCap`.' }),
    timeoutMs: Integer.nullish().meta({
      description: 'Kill the whole process tree after this time; the exit code is then 124. Default 10000.',
    }),
    disableTimeout: z
      .boolean()
      .default(false)
      .meta({ description: 'No time limit. Cannot be combined with `timeoutMs`.' }),
    cwd: z.string().nullish().meta({
      description: 'A relative path is resolved against the server’s own directory, which is the default.',
    }),
    env: EnvironmentOverrides,
    size: InitialSize,
    sandboxPolicy: AppSandboxPolicy.nullish().meta({
      description: 'What the program may access. Default: the policy the server was started with.',
    }),
    permissionProfile: z.string().nullish().meta({
      description: 'A named policy. Cannot be combined with `sandboxPolicy`. Requires `experimentalApi`.',
    }),
    ...HeldCommand,
    environmentId: TargetEnvironment,
  }),
  result: z.object({
    exitCode: z.number().int().meta({
      description: '0-255 as the program returned it, 128 + n if killed by signal n, 124 after a timeout.',
    }),
    stdout: z.string().meta({ description: 'Empty if it was streamed.' }),
    stderr: z.string().meta({ description: 'Empty if it was streamed.' }),
    changesId: z
      .string()
      .optional()
      .meta({ description: 'The set that holds its changes, if they are held.' }),
    changesFull: z.literal(true).optional().meta({
      description: 'Present if it was killed because its held changes reached their size limit.',
    }),
  }),
  orderedBy: lane,
  experimental: ['permissionProfile', 'changes', 'changesId', 'changesLease'],
  answeredAtEnd: true,
});

export const commandExecWrite = request({
  doc: 'Writes to stdin, closes it, or both. Answered when the bytes are queued, not when they are read.',
  params: z.object({
    processId: ActiveProcessId,
    ...StdinPiece,
  }),
  result: Empty,
  orderedBy: lane,
  base64: { params: 'deltaBase64' },
});

export const commandExecResize = request({
  doc: 'Changes the size of the terminal.',
  params: z.object({ processId: ActiveProcessId, size: Size }),
  result: Empty,
  orderedBy: lane,
  control: true,
});

export const commandExecTerminate = request({
  doc: 'Kills the program and everything it started. `command/exec` is answered next, with exit code 137.',
  params: z.object({ processId: ActiveProcessId }),
  result: Empty,
  orderedBy: lane,
  control: true,
});

export const commandExecOutputDelta = notification({
  doc: 'A chunk of streamed output. All chunks precede the answer to `command/exec`.',
  params: z.object({
    processId: ActiveProcessId,
    ...OutputPiece,
  }),
  base64: { params: 'deltaBase64' },
});
