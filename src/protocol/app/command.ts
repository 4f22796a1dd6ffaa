import { z } from 'zod';
import { notification, request } from '../method.js';
import { Count, Empty, EnvironmentOverrides, Integer, Size, TargetEnvironment } from './common.js';
import { InitialSize, OnTerminal, OutputPiece, ProgramArgv, StdinPiece } from './program.js';
import { AppSandboxPolicy } from './sandbox-policy.js';

const ActiveProcessId = z.string().meta({ description: 'The `processId` of a running `command/exec`.' });

const lane = (params: { processId?: string | null | undefined }): string | undefined =>
  params.processId == null ? undefined : `command:${params.processId}`;

export const commandExec = request({
  doc: 'Runs a program to its end. The answer comes after all of its output.',
  params: z.object({
    command: ProgramArgv,
    processId: z.string().nullish().meta({
      description: 'A name for the other `command/exec/*` methods, on this connection. Needed to stream.',
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
      description: 'Bytes kept per stream; further ones are read and dropped. Default 1048576.',
    }),
    disableOutputCap: z
      .boolean()
      .default(false)
      .meta({ description: 'No cap. Does not go with `outputBytesCap`.' }),
    timeoutMs: Integer.nullish().meta({
      description: 'Kill the whole tree after this time; the exit code is then 124. Default 10000.',
    }),
    disableTimeout: z
      .boolean()
      .default(false)
      .meta({ description: 'No time limit. Does not go with `timeoutMs`.' }),
    cwd: z
      .string()
      .nullish()
      .meta({ description: 'A relative path starts at the server’s own directory, which is the default.' }),
    env: EnvironmentOverrides,
    size: InitialSize,
    sandboxPolicy: AppSandboxPolicy.nullish().meta({
      description: 'What the program may touch. Default: what the server was started with.',
    }),
    permissionProfile: z.string().nullish().meta({
      description: 'A policy by name. Does not go with `sandboxPolicy`. Needs `experimentalApi`.',
    }),
    environmentId: TargetEnvironment,
  }),
  result: z.object({
    exitCode: z.number().int().meta({
      description: '0-255 as the program said, 128 + n after signal n, 124 after a timeout.',
    }),
    stdout: z.string().meta({ description: 'Empty when it was streamed.' }),
    stderr: z.string().meta({ description: 'Empty when it was streamed.' }),
  }),
  orderedBy: lane,
  experimental: ['permissionProfile'],
  answeredAtEnd: true,
});

export const commandExecWrite = request({
  doc: 'Writes to stdin, closes it, or both. Answered when the bytes are in line, not when they were read.',
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
  doc: 'Kills the program with everything it started. `command/exec` is answered next, with exit code 137.',
  params: z.object({ processId: ActiveProcessId }),
  result: Empty,
  orderedBy: lane,
  control: true,
});

export const commandExecOutputDelta = notification({
  doc: 'A piece of streamed output. All of them come before the answer to `command/exec`.',
  params: z.object({
    processId: ActiveProcessId,
    ...OutputPiece,
  }),
  base64: { params: 'deltaBase64' },
});
