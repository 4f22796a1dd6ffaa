import { z } from 'zod';
import { notification, request } from '../method.js';
import {
  AbsolutePath,
  Count,
  Empty,
  EnvironmentOverrides,
  Integer,
  Size,
  TargetEnvironment,
} from './common.js';
import { InitialSize, OnTerminal, OutputPiece, ProgramArgv, StdinPiece } from './program-fields.js';

const ProcessHandle = z
  .string()
  .meta({ description: 'Chosen by the client, not empty; can be reused once the process has ended.' });

const lane = (params: { processHandle: string }): string => `process:${params.processHandle}`;

export const processSpawn = request({
  doc: 'Starts a program, never sandboxed. Answered once it runs; `process/exited` reports how it ended.',
  params: z.object({
    command: ProgramArgv,
    processHandle: ProcessHandle,
    cwd: AbsolutePath.meta({ description: 'The working directory: an absolute path.' }),
    tty: OnTerminal,
    streamStdin: z
      .boolean()
      .default(false)
      .meta({ description: 'Keep stdin open for `process/writeStdin`. Otherwise it is empty.' }),
    streamStdoutStderr: z.boolean().default(false).meta({
      description: 'Send output as `process/outputDelta` instead of with `process/exited`.',
    }),
    outputBytesCap: Count.nullish().meta({
      description: 'Bytes kept per stream; more is read and discarded. Default 1048576; null: no cap.',
    }),
    timeoutMs: Integer.nullish().meta({
      description: 'Kill the whole process tree after this time. Default 10000; null: no limit.',
    }),
    env: EnvironmentOverrides,
    size: InitialSize,
    environmentId: TargetEnvironment,
  }),
  result: Empty,
  orderedBy: lane,
  experimental: true,
});

export const processWriteStdin = request({
  doc: 'Writes to stdin, closes it, or both. Answered when the bytes are queued, not when they are read.',
  params: z.object({
    processHandle: ProcessHandle,
    ...StdinPiece,
  }),
  result: Empty,
  orderedBy: lane,
  experimental: true,
  base64: { params: 'deltaBase64' },
});

export const processResizePty = request({
  doc: 'Changes the size of the terminal.',
  params: z.object({ processHandle: ProcessHandle, size: Size }),
  result: Empty,
  orderedBy: lane,
  control: true,
  experimental: true,
});

export const processKill = request({
  doc: 'Kills the program and everything it started. `process/exited` follows, with exit code 137.',
  params: z.object({ processHandle: ProcessHandle }),
  result: Empty,
  orderedBy: lane,
  control: true,
  experimental: true,
});

export const processOutputDelta = notification({
  doc: 'A chunk of streamed output. All chunks precede `process/exited`.',
  params: z.object({
    processHandle: ProcessHandle,
    ...OutputPiece,
  }),
  base64: { params: 'deltaBase64' },
});

export const processExited = notification({
  doc: 'The program has ended. The last message about it.',
  params: z.object({
    processHandle: ProcessHandle,
    exitCode: z.number().int().meta({
      description:
        '0-255 as the program returned it, 128 + n if killed by signal n, 124 after a timeout, -1 if unknown.',
    }),
    outputDrainTimedOut: z.boolean().optional().meta({
      description: 'A process it left behind kept its output open, and collecting ended without it.',
    }),
    stdout: z.string().meta({ description: 'Empty if it was streamed.' }),
    stdoutCapReached: z.boolean().meta({ description: 'The cap was reached; more may have been discarded.' }),
    stderr: z.string().meta({ description: 'Empty if it was streamed.' }),
    stderrCapReached: z.boolean().meta({ description: 'The cap was reached; more may have been discarded.' }),
  }),
});
