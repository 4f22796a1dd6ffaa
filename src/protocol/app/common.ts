import { z } from 'zod';

/** A whole number of any size and sign. Methods check the range themselves. */
export const Integer = z.number().multipleOf(1);

/** A non-negative whole number. */
export const Count = Integer.min(0);

/** Bytes as standard padded base64. The decoder checks it. */
export const Base64 = z.string().meta({ contentEncoding: 'base64' });

export const AbsolutePath = z
  .string()
  .regex(/^\//, 'must be an absolute path')
  .meta({ description: 'An absolute path on the machine; `.` and `..` are resolved lexically.' });

/** Methods reject zero with a different code than values that cannot be decoded. */
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
  .meta({ description: 'Added to the inherited environment; `null` unsets a variable.' });

/** Not known to other servers, which serve only one machine. */
export const TargetEnvironment = z.string().nullish().meta({
  description:
    'The environment to use. Absent or null: the server’s default, which is this machine unless configured otherwise.',
});

export const Empty = z.object({});
