import { z } from 'zod';
import { notification } from '../method.js';
import { Chunk, OutputStreamName, ProcessId, Unsigned } from './common.js';
import { exitExtras } from './exit-extras.js';

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
    ...exitExtras,
  }),
});

export const processClosed = notification({
  doc: 'The process has exited and its output is closed. Always the last event of a process.',
  params: z.object({ processId: ProcessId, seq: Unsigned }),
});
