import { z } from 'zod';

/** A whole number of any size and sign; what is out of range is for the method to say. */
export const Integer = z.number().multipleOf(1);

/** A whole number from 0 up. */
export const Count = Integer.min(0);

/** Bytes as standard padded base64. The decoder checks it. */
export const Base64 = z.string().meta({ contentEncoding: 'base64' });

export const AbsolutePath = z
  .string()
  .regex(/^\//, 'must be an absolute path')
  .meta({ description: 'An absolute path on the machine; `.` and `..` are resolved by name.' });

/** Zero is refused by the methods, under another code than what does not decode. */
export const Size = z.object({
  rows: z.number().int().min(0).max(65_535).meta({ description: 'Lines; at least 1.' }),
  cols: z.number().int().min(0).max(65_535).meta({ description: 'Characters per line; at least 1.' }),
});

export const OutputStream = z
  .enum(['stdout', 'stderr'])
  .meta({ description: 'Everything a terminal shows is `stdout`.' });

export const EnvironmentOverrides = z
  .record(z.string(), z.string().nullable())
  .nullish()
  .meta({ description: 'Laid over the inherited environment; `null` unsets a variable.' });

/** Absent from other servers, which know one machine only. */
export const TargetEnvironment = z.string().nullish().meta({
  description:
    'The environment to use. Absent or null: the server’s default, this machine unless told otherwise.',
});

export const Empty = z.object({});
