import { z } from 'zod';

const AbsolutePath = z
  .string()
  .regex(/^\/[^\0]*$/)
  .meta({ description: 'An absolute path on the server’s machine.' });

/** The sandbox of `command/exec`, by type. A bare string, an unknown type or a relative root is an error. */
export const AppSandboxPolicy = z.discriminatedUnion('type', [
  z.object({ type: z.literal('dangerFullAccess') }).meta({ description: 'No sandbox.' }),
  z.object({
    type: z.literal('readOnly'),
    networkAccess: z.boolean().default(false),
  }),
  z.object({
    type: z.literal('workspaceWrite'),
    writableRoots: z
      .array(AbsolutePath)
      .default([])
      .meta({ description: 'In addition to the server’s own working directory.' }),
    networkAccess: z.boolean().default(false),
    excludeTmpdirEnvVar: z
      .boolean()
      .default(false)
      .meta({ description: 'Do not make the directory in TMPDIR writable.' }),
    excludeSlashTmp: z.boolean().default(false).meta({ description: 'Do not make /tmp writable.' }),
  }),
  z
    .object({
      type: z.literal('externalSandbox'),
      networkAccess: z.enum(['restricted', 'enabled']).default('restricted'),
    })
    .meta({ description: 'The server already runs inside an external sandbox; none is added.' }),
]);
export type AppSandboxPolicy = z.input<typeof AppSandboxPolicy>;
