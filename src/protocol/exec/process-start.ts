import { z } from 'zod';
import { request } from '../method.js';
import { FileUri, ProcessId, processLane, TerminalSize, Unsigned } from './common.js';
import { Lease } from './kept.js';
import { ManagedNetwork, NetworkProxyLaunch } from './managed-network.js';
import { Sandbox, SandboxType } from './sandbox.js';

const Patterns = z
  .array(z.string())
  .meta({ description: 'Case-insensitive globs over variable names, with `*` and `?`.' });

/** Which of the server’s own variables a child inherits. Applied in the order of the fields. */
export const EnvPolicy = z.object({
  inherit: z.enum(['all', 'core', 'none']),
  ignoreDefaultExcludes: z
    .boolean()
    .meta({ description: 'False drops names that contain KEY, SECRET or TOKEN.' }),
  exclude: Patterns,
  set: z.record(z.string(), z.string()),
  includeOnly: Patterns.meta({ description: 'If not empty, everything else is dropped.' }),
});
export type EnvPolicy = z.input<typeof EnvPolicy>;

const Limit = Unsigned.min(1);

/** Bounds for each process of a tree, inherited by everything it starts. */
export const ProcessLimits = z.object({
  memoryBytes: Limit.optional().meta({
    description:
      'Heap, stacks of threads and other private memory. Allocations beyond it fail. Files and shared memory do not count.',
  }),
  cpuSeconds: Limit.optional().meta({
    description: 'CPU time. Beyond it, the process gets SIGXCPU, and SIGKILL a second later.',
  }),
  openFiles: Limit.optional().meta({
    description: 'Open files and other descriptors. Opening more fails with EMFILE.',
  }),
});
export type ProcessLimits = z.output<typeof ProcessLimits>;

/** The same as Codex's: a scope is a thread and an environment. */
const MAX_SCOPE_BYTES = 256;

const ShellSnapshot = z
  .object({
    scopeId: z
      .string()
      .min(1)
      .refine((scope) => new TextEncoder().encode(scope).length <= MAX_SCOPE_BYTES, {
        message: `at most ${MAX_SCOPE_BYTES} bytes`,
      })
      .meta({ description: 'Starts with the same scope share the effects of a profile. 1 to 256 bytes.' }),
    shell: z.object({ name: z.string(), path: z.string() }),
  })
  .meta({
    description:
      'For a command `[shell.path, "-lc", …]`: run the bash profile once and give later shells the resulting state. ' +
      'Other commands run unchanged.',
  });

export const processStart = request({
  doc: 'Starts a program. Answered as soon as the child exists; its output follows as notifications.',
  params: z.object({
    processId: ProcessId,
    argv: z.array(z.string()).min(1).meta({ description: 'Program and arguments; no shell is involved.' }),
    cwd: FileUri.optional().meta({
      description: 'The working directory. May be absent with the extension `ahead`: then the server’s own.',
    }),
    startAtHome: z.boolean().nullish().meta({
      description:
        'Extension `startAtHome`: without `cwd`, start in the home directory of the server’s user, or in `/` if that cannot be entered.',
    }),
    env: z
      .record(z.string(), z.string())
      .meta({ description: 'The complete environment, or what is added to the result of `envPolicy`.' }),
    envPolicy: EnvPolicy.nullish(),
    tty: z.boolean().meta({ description: 'Run on a terminal instead of pipes.' }),
    pipeStdin: z.boolean().default(false).meta({ description: 'Keep stdin writable when `tty` is false.' }),
    arg0: z.string().nullish().meta({ description: 'The name passed to the program as its own.' }),
    size: TerminalSize.nullish().meta({ description: 'Terminal size. Default: 24 rows and 80 columns.' }),
    reportUsage: z.boolean().nullish().meta({
      description: 'Extension `processUsage`: report in `process/exited` what the process cost.',
    }),
    timeoutMs: Unsigned.nullish().meta({ description: 'Kill the whole process tree after this time.' }),
    limits: ProcessLimits.nullish().meta({
      description:
        'Extension `processLimits`: bounds for each process of the tree. Refused with `limitsUnavailable` where they cannot be enforced.',
    }),
    lease: Lease.nullish().meta({
      description:
        'Extension `leases`: how long it may outlive its clients. Default `session`. A process with another lease is ' +
        'known by its id to all sessions of the same client.',
    }),
    sandbox: Sandbox.nullish(),
    enforceManagedNetwork: z.boolean().optional().meta({
      description:
        'A proxy is the only way out, whatever `network` in the permissions says. Refused if there is none.',
    }),
    managedNetwork: ManagedNetwork.nullish().meta({
      description: 'Describes an existing proxy. Its address is taken from the variables in `env`.',
    }),
    networkProxy: NetworkProxyLaunch.nullish().meta({
      description:
        'A proxy to start for the process. It is always the only way out; with `network: restricted` and without ' +
        '`enforceManagedNetwork`, there is none.',
    }),
    shellSnapshot: ShellSnapshot.nullish(),
    retain: z.enum(['memory', 'disk']).nullish().meta({
      description:
        'Extension `spool`: keep the end of the output in memory, or all of it on disk, even after the process has ended. Default `memory`.',
    }),
    onSlowReader: z
      .enum(['wait', 'spool'])
      .nullish()
      .meta({
        description:
          'Extension `spool`: with `spool`, a client that falls behind gets output from disk and the program does not wait. ' +
          'Default `wait`.',
      }),
    metadata: z
      .object({ threadId: z.guid(), toolCallId: z.string() })
      .nullish()
      .meta({ description: 'Informational.' }),
  }),
  result: z.object({
    processId: ProcessId,
    sandboxType: SandboxType.optional(),
    changesId: z.string().optional().meta({
      description: 'Extension `changes`: the set that holds its changes.',
    }),
  }),
  orderedBy: processLane,
});
