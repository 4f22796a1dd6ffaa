import { z } from 'zod';
import { NetworkRules } from './network.js';
import { FileUri } from './common.js';

/** Inside `permissions` the wire uses snake_case. Unknown members are ignored, unknown tags are errors. */
const Subpath = z
  .string()
  .nullish()
  .meta({ description: 'Relative to the directory that the kind stands for.' });

export const SpecialPath = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('root') }),
  z
    .object({ kind: z.literal('minimal') })
    .meta({ description: 'What programs need to run at all: /usr and the like.' }),
  z
    .object({ kind: z.literal('current_working_directory'), subpath: Subpath })
    .meta({ description: 'An older name for `project_roots`.' }),
  z.object({ kind: z.literal('project_roots'), subpath: Subpath }),
  z.object({ kind: z.literal('tmpdir') }),
  z.object({ kind: z.literal('slash_tmp') }),
  z
    .object({ kind: z.literal('unknown'), path: z.string(), subpath: Subpath })
    .meta({ description: 'A name from a newer client. Grants nothing.' }),
]);
export type SpecialPath = z.input<typeof SpecialPath>;

export const PermissionPath = z.discriminatedUnion('type', [
  z.object({ type: z.literal('path'), path: FileUri }),
  z.object({
    type: z.literal('glob_pattern'),
    pattern: z.string().min(1).meta({ description: 'Relative patterns are resolved against `cwd`.' }),
  }),
  z.object({ type: z.literal('special'), value: SpecialPath }),
]);
export type PermissionPath = z.input<typeof PermissionPath>;

export const PermissionEntry = z.object({
  path: PermissionPath,
  access: z.enum(['read', 'write', 'none', 'deny']).meta({ description: '`deny` is an alias of `none`.' }),
  missing_path_behavior: z.enum(['skip']).nullish().meta({
    description:
      '`skip`: the entry applies only if the path exists. Otherwise a missing path cannot be created.',
  }),
});
export type PermissionEntry = z.input<typeof PermissionEntry>;

export const NetworkPermission = z.enum(['restricted', 'enabled']);

export const Permissions = z.discriminatedUnion('type', [
  z.object({ type: z.literal('disabled') }).meta({ description: 'No sandbox.' }),
  z
    .object({ type: z.literal('external'), network: NetworkPermission })
    .meta({ description: 'The server already runs inside an external sandbox; none is added.' }),
  z.object({
    type: z.literal('managed'),
    file_system: z.discriminatedUnion('type', [
      z.object({ type: z.literal('unrestricted') }),
      z.object({
        type: z.literal('restricted'),
        entries: z.array(PermissionEntry).meta({
          description: 'The longest path wins; among equals, `none` beats `write` beats `read`.',
        }),
        glob_scan_max_depth: z
          .number()
          .int()
          .min(1)
          .nullish()
          .meta({ description: 'How many directories deep patterns are searched.' }),
      }),
    ]),
    network: NetworkPermission,
  }),
]);
export type Permissions = z.input<typeof Permissions>;

const PolicyContext = z.object({
  cwd: FileUri.nullish(),
  workspaceRoots: z.array(FileUri).optional(),
});

/** What a process or a file operation may access. */
export const Sandbox = z.object({
  permissions: Permissions,
  cwd: FileUri.nullish().meta({
    description: 'Base of relative patterns. Default: the working directory of the process.',
  }),
  workspaceRoots: z
    .array(FileUri)
    .optional()
    .meta({ description: 'What `project_roots` stands for; an empty list: nothing. Default: `cwd`.' }),
  policyContext: PolicyContext.nullish().meta({
    description: 'Replaces `cwd` and `workspaceRoots`. Without roots, `project_roots` stands for nothing.',
  }),
  userHomeDir: FileUri.nullish().meta({ description: 'Ignored: no path is relative to it.' }),
  temporaryDirectories: z
    .array(FileUri)
    .nullish()
    .meta({ description: 'What `tmpdir` stands for. Default: TMPDIR of the process.' }),
  sandboxOverride: z
    .enum(['noOverride', 'escalatedSandboxWithRestrictions', 'bypassSandboxFirstAttempt'])
    .optional()
    .meta({ description: 'What the user approved. The permissions are enforced in any case.' }),
  windowsSandboxProxySettingsMode: z
    .enum(['reconcile', 'preserve'])
    .nullish()
    .meta({ description: 'Ignored.' }),
  windowsSandboxLevel: z
    .enum(['disabled', 'restricted-token', 'elevated', 'mxc'])
    .optional()
    .meta({ description: 'Ignored, but required by Codex.' }),
  useLegacyLandlock: z.boolean().optional().meta({ description: 'Ignored.' }),
  protectedNames: z.array(z.string()).optional().meta({
    description: 'Extension: names kept read-only below writable roots. Default `.git`, `.codex`, `.agents`.',
  }),
  unixSockets: z
    .enum(['blocked', 'allowed'])
    .optional()
    .meta({ description: 'Extension: whether unix sockets of the host can be reached. Default `blocked`.' }),
  maxProcesses: z
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: 'Extension: maximum number of processes in the sandbox.' }),
  changes: z
    .enum(['hold'])
    .optional()
    .meta({
      description:
        'Extension `changes`: changes below the writable paths are held in a set, and the files stay as they are until ' +
        'it is applied.',
    }),
  changesId: z.string().optional().meta({
    description:
      'Extension `changes`: the set to use; created if there is none. Absent: a new set for this process alone.',
  }),
  changesLease: z.enum(['session', 'kept']).optional().meta({
    description:
      'Extension `changes`: whether a new set ends with the session, or is kept until it is applied or discarded. Default `session`.',
  }),
  networkRules: NetworkRules.optional().meta({
    description:
      'Extension `networkRules`: a network of its own, with a proxy as the only way out. Replaces `network` in the ' +
      'permissions; send `restricted` there, for servers that do not know this member.',
  }),
});
export type Sandbox = z.input<typeof Sandbox>;

export const SandboxType = z.enum(['none', 'linuxSeccomp', 'macosSeatbelt', 'windowsRestrictedToken']);
export type SandboxType = z.output<typeof SandboxType>;
