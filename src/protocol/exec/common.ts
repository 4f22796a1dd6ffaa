import { z } from 'zod';

/** An unsigned whole number of any size: a wait of 2^64-1 ms is a way to say "forever". */
export const Unsigned = z.number().min(0).multipleOf(1);

/** Bytes as standard padded base64. The decoder checks it: a pattern over a megabyte costs more than decoding. */
export const Chunk = z.string().meta({ contentEncoding: 'base64' });

export const FileUri = z
  .string()
  .meta({ format: 'uri', description: 'A `file:` URI on the server’s machine.' });

export const ProcessId = z
  .string()
  .meta({ description: 'Chosen by the client; identifies the process within its session. May be empty.' });

export const OutputStreamName = z.enum(['stdout', 'stderr', 'pty']);

export const TerminalSize = z.object({
  rows: z.number().int().min(1).max(65_535),
  cols: z.number().int().min(1).max(65_535),
});

/** Requests about one process are ordered under this key. */
export const processLane = (params: { processId: string }): string => `process:${params.processId}`;

/** What a process cost. */
export const ProcessUsage = z.object({
  userMs: z
    .number()
    .meta({ description: 'CPU time in its own code, with all descendants it has waited for.' }),
  systemMs: z.number().meta({ description: 'CPU time in the kernel.' }),
  peakMemoryBytes: Unsigned.meta({ description: 'The peak memory of any one of its processes.' }),
  peakMemoryIsUpperBound: z.boolean().optional().meta({
    description:
      'True if the peak is only known not to exceed that of the server: the kernel does not report more.',
  }),
  outputBytes: Unsigned.meta({ description: 'Output up to its exit.' }),
});
