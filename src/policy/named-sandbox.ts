import { pathToFileURL } from 'node:url';
import {
  ExecError,
  isFileUri,
  type NetworkRules,
  type PermissionEntry,
  type Permissions,
  type Sandbox,
} from '../protocol/index.js';
import { permissionsFromAppPolicy } from './app-policy.js';
import { sandboxOfProfile } from './profile-sandbox.js';
import { findProfile, type Profile } from './profiles.js';

/** A policy by name, with the usual adjustments. */
export interface NamedPolicy {
  /** `read-only`, `workspace-write`, `danger-full-access`, or the name of a profile in `permissions.toml`. */
  readonly policy: string;
  /** More writable directories: absolute paths or `file:` URIs on that machine. */
  readonly writable?: readonly string[] | undefined;
  /** Whether the network can be reached, or which hosts of it. Default: the policy's setting. */
  readonly network?: boolean | NetworkRules | undefined;
}

/** Where a policy applies. */
export interface PolicyPlace {
  /** The project directory: an absolute path or a `file:` URI; null if there is none. */
  readonly workspace: string | null;
  /** The `[permissions.NAME]` tables of the configuration. */
  readonly profiles?: unknown;
}

const BUILT_IN: Readonly<Record<string, Permissions>> = {
  'read-only': permissionsFromAppPolicy({ type: 'readOnly' }),
  'workspace-write': permissionsFromAppPolicy({ type: 'workspaceWrite' }),
  'danger-full-access': { type: 'disabled' },
};

/** The sandbox to enforce for a named policy; null if it confines nothing. */
export function namedSandbox(named: NamedPolicy, { workspace, profiles }: PolicyPlace): Sandbox | null {
  const { policy, writable = [], network } = named;
  const profile = profileOf(policy, profiles);
  const { permissions } = profile;
  if (permissions.type !== 'managed') {
    if (writable.length === 0 && network === undefined) return null;
    throw new ExecError(
      'invalidConfiguration',
      `${policy} does not confine anything, so there is nothing more to allow.`,
    );
  }
  const widened: Permissions = {
    ...permissions,
    file_system: withWritable(permissions.file_system, writable),
    network: network === undefined ? permissions.network : network === true ? 'enabled' : 'restricted',
  };
  const { networkRules: inherited, ...others } = profile;
  const networkRules = network === undefined ? inherited : typeof network === 'object' ? network : undefined;
  const root = workspace === null ? null : uriOf(workspace);
  return sandboxOfProfile({ ...others, permissions: widened, ...(networkRules && { networkRules }) }, root);
}

type ManagedFiles = Extract<Permissions, { type: 'managed' }>['file_system'];

function withWritable(files: ManagedFiles, writable: readonly string[]): ManagedFiles {
  if (files.type !== 'restricted' || writable.length === 0) return files;
  const added = writable.map(
    (path): PermissionEntry => ({ path: { type: 'path', path: uriOf(path) }, access: 'write' }),
  );
  return { ...files, entries: [...files.entries, ...added] };
}

function profileOf(name: string, profiles: unknown): Profile {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn) return { permissions: builtIn };
  try {
    return findProfile(name, profiles);
  } catch (cause) {
    if (!(cause instanceof ExecError) || cause.code !== 'invalidParams') throw cause;
    throw new ExecError(
      'invalidConfiguration',
      `There is no sandbox policy "${name.slice(0, 64)}". Use read-only, workspace-write, danger-full-access, ` +
        'or a profile from permissions.toml.',
      { cause },
    );
  }
}

function uriOf(path: string): string {
  if (isFileUri(path)) return path;
  if (!path.startsWith('/'))
    throw new ExecError('invalidConfiguration', 'Directories in a sandbox policy must be absolute paths.');
  return pathToFileURL(path).href;
}
