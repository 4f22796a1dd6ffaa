import { z } from 'zod';

/** A tool call that takes longer is a job for `wait_for`, or for another poll. */
export const MAX_YIELD_MS = 300_000;
/** Nobody reads an answer of more than a million tokens, and it must fit into memory several times. */
export const MAX_OUTPUT_TOKENS = 1_000_000;
/** More than anybody types; files are better written with a tool for files. */
export const MAX_INPUT_CHARS = 512 * 1024;
/** What a call returns at most unless it asks for more or less. */
export const DEFAULT_OUTPUT_TOKENS = 10_000;

/** A wait in milliseconds; longer ones than allowed are shortened rather than refused. */
export function milliseconds(options: { default: number; max: number; about: string }) {
  const description = `${options.about} At most ${options.max}.`;
  return z.number().min(0).default(options.default).meta({ description });
}

export const SessionId = z
  .number()
  .int()
  .min(1)
  .meta({ description: 'The number an earlier call returned.' });

export const MaxOutputTokens = z.number().int().min(0).default(DEFAULT_OUTPUT_TOKENS).meta({
  description: 'Longer output keeps its beginning and end; read_output has the rest.',
});

export const Raw = z.boolean().default(false).meta({
  description: 'Keep colour codes and carriage returns, and do not shorten long lines.',
});

export const Notes = z.array(z.string()).meta({ description: 'Things to know beside the output.' });
