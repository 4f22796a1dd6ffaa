import { z } from 'zod';

/** A tool call that takes longer is a job for `wait_for`, or for another poll. */
export const MAX_YIELD_MS = 300_000;
/** No model reads an answer this long, and the answer has to fit into memory several times over. */
export const MAX_OUTPUT_TOKENS = 1_000_000;
/** Far more than anyone types. Use `write_file` for file contents. */
export const MAX_INPUT_CHARS = 512 * 1024;
/** The output limit of a call that does not set its own. */
export const DEFAULT_OUTPUT_TOKENS = 10_000;

/** A wait in milliseconds. Values above `max` are clamped, not rejected. */
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

/** What a search for lines takes. */
export const PATTERN = 'this regular expression (no look-around, no back references)';

export const Notes = z.array(z.string()).meta({ description: 'Things to know besides the output.' });
