import { z } from 'zod';
import { request } from '../method.js';
import { FileUri, Unsigned } from './common.js';

/** Parameters of a method that takes none: absent, null or an empty object. */
export const NoParams = z.union([z.null(), z.strictObject({})]).default(null);

/** Codex's own capability names. A client treats an absent one as false, so only existing ones are claimed. */
export const CodexCapabilities = z.record(z.string(), z.boolean());

export const EnvironmentInfo = z.object({
  shell: z.object({ name: z.string(), path: z.string() }),
  executorVersion: z.string().optional().meta({
    description:
      'The Codex release whose protocol is implemented and, after a plus sign, the implementation.',
  }),
  providerId: z.string().optional().meta({ description: 'Stable for this machine and user.' }),
  cwd: FileUri.nullish(),
  userHomeDir: FileUri.nullish(),
  platformOs: z.string().optional(),
  prependPathDirs: z.array(FileUri).optional(),
  temporaryDirectories: z.array(FileUri).optional(),
  tempDir: FileUri.nullish(),
  capabilities: CodexCapabilities.optional(),
  sandbox: z
    .object({
      level: z.enum(['full', 'none']),
      hint: z.string().optional().meta({ description: 'How to fix it.' }),
      maxProcesses: z
        .boolean()
        .optional()
        .meta({ description: 'Whether a policy may limit the number of processes.' }),
      changes: z
        .object({ available: z.boolean(), hint: z.string().optional() })
        .optional()
        .meta({ description: 'Whether a policy may hold changes; if not, why, and how to fix it.' }),
    })
    .optional()
    .meta({
      description: 'Extension, in `environment/info` only: which policies the machine can enforce.',
    }),
});
export type EnvironmentInfo = z.output<typeof EnvironmentInfo>;

export const environmentInfo = request({
  doc: 'Describes the machine and the server: shell, directories, platform and capabilities.',
  params: NoParams,
  result: EnvironmentInfo,
  idempotent: true,
  viewing: 'machine',
});

export const environmentUsage = request({
  doc: 'How busy the machine is, and what the server itself uses.',
  extension: 'usage',
  params: NoParams,
  result: z.object({
    cpus: Unsigned,
    loadAverage: z.array(z.number()).meta({ description: 'Over 1, 5 and 15 minutes.' }),
    memoryBytes: Unsigned,
    availableBytes: Unsigned.meta({ description: 'Memory available to programs without swapping.' }),
    uptimeMs: Unsigned,
    serverBytes: Unsigned.meta({ description: 'Resident memory of the server.' }),
    serverCpuMs: Unsigned.meta({ description: 'CPU time of the server since it started.' }),
  }),
  idempotent: true,
  viewing: 'machine',
});

export const environmentStatus = request({
  doc: 'Answers `ready`. A cheap check that the server is alive.',
  params: NoParams,
  result: z.object({ status: z.literal('ready') }),
  idempotent: true,
  viewing: 'machine',
});
