import { z } from 'zod';

/** A tool call that takes longer is a job for `wait_for`, or for another poll. */
export const MAX_YIELD_MS = 300_000;
/** No model reads an answer this long, and the answer has to fit into memory several times over. */
export const MAX_OUTPUT_TOKENS = 1_000_000;
/** Far more than anyone types. Use `write_file` for file contents. */
export const MAX_INPUT_CHARS = 512 * 1024;
/** The output limit of a call that does not set its own. */
export const DEFAULT_OUTPUT_TOKENS = 10_000;
/** Output beyond the default is searched rather than read: this much of its ends shows what it is. */
export const CUT_OUTPUT_TOKENS = 2_000;

/** A wait in milliseconds. Tools clamp values that are too large. */
export function milliseconds(options: { default: number }) {
  return z.number().min(0).default(options.default);
}

export const SessionId = z.number().int().min(1);

export const MaxOutputTokens = z.number().int().min(0).default(DEFAULT_OUTPUT_TOKENS);

/** Arguments that are accepted and not shown to models: they would rarely be worth their tokens. */
export function hidden<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ hidden: true });
}

export const Raw = z.boolean().default(false).meta({ description: 'Keep escape codes.' });

/** What a search for lines takes. */
export const PATTERN = 'this regex (no look-around)';

export const Notes = z.array(z.string()).meta({ description: 'Things to know besides the output.' });
