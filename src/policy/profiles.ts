import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ExecError } from '../protocol/errors.js';
import type { NetworkRules, PermissionEntry, Permissions, SpecialPath } from '../protocol/index.js';
import { permissionsFromAppPolicy } from './app-policy.js';

const ProfileAccess = z.enum(['read', 'write', 'none', 'deny']);

/** One `[permissions.NAME]` table of a configuration file. */
const ProfileTable = z.strictObject({
  description: z.string().optional(),
  extends: z.string().optional(),
  filesystem: z.record(z.string(), z.union([ProfileAccess, z.record(z.string(), ProfileAccess)])).default({}),
  network: z
    .strictObject({
      enabled: z.boolean(),
      domains: z.record(z.string(), z.enum(['allow', 'deny', 'none'])).optional(),
      ask: z.boolean().optional(),
    })
    .optional(),
  protected_names: z.array(z.string().regex(/^[^/\0]+$/)).optional(),
  unix_sockets: z.boolean().optional(),
  max_processes: z.number().int().min(1).optional(),
});

/** The parsed `permissions` part of a configuration file. Names that start with a colon are reserved. */
export const ProfileTables = z.record(z.string().regex(/^[^:]/), ProfileTable);
export type ProfileTables = z.input<typeof ProfileTables>;

/** A resolved profile: the permissions on the wire, and its other settings. */
export interface Profile {
  readonly permissions: Permissions;
  readonly protectedNames?: readonly string[];
  readonly unixSockets?: 'blocked' | 'allowed';
  readonly maxProcesses?: number;
  /** Only some hosts can be reached. The permissions then say `restricted`. */
  readonly networkRules?: NetworkRules;
}

const BUILT_IN: Readonly<Record<string, Profile>> = {
  ':read-only': { permissions: permissionsFromAppPolicy({ type: 'readOnly' }) },
  ':workspace': { permissions: permissionsFromAppPolicy({ type: 'workspaceWrite' }) },
  ':danger-full-access': { permissions: { type: 'disabled' } },
};

/** Maximum length of an `extends` chain; a longer one is a cycle. */
const MAX_EXTENDS = 8;

const SPECIAL_NAMES: Readonly<Record<string, SpecialPath>> = {
  ':root': { kind: 'root' },
  ':minimal': { kind: 'minimal' },
  ':cwd': { kind: 'current_working_directory' },
  ':project_roots': { kind: 'project_roots' },
  ':workspace_roots': { kind: 'project_roots' },
  ':tmpdir': { kind: 'tmpdir' },
  ':slash_tmp': { kind: 'slash_tmp' },
};

/** Finds a profile by name: `:read-only`, `:workspace`, `:danger-full-access`, or one of the tables. */
export function findProfile(name: string, tables: unknown = {}): Profile {
  const parsed = ProfileTables.safeParse(tables);
  if (!parsed.success)
    throw new ExecError('invalidConfiguration', 'A permission profile in the configuration is not valid.', {
      cause: parsed.error,
    });
  return expand(name, { tables: parsed.data, depth: 0 });
}

type Tables = z.output<typeof ProfileTables>;

function expand(name: string, { tables, depth }: { tables: Tables; depth: number }): Profile {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn) return builtIn;
  const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
  if (table === undefined) throw new ExecError('invalidParams', `There is no permission profile ${name}.`);
  if (depth === MAX_EXTENDS)
    throw new ExecError('invalidConfiguration', `The permission profile ${name} extends itself.`);
  const base = table.extends ? expand(table.extends, { tables, depth: depth + 1 }) : undefined;
  return merge(base, table);
}

function merge(base: Profile | undefined, table: Tables[string]): Profile {
  const inherited = base?.permissions.type === 'managed' ? base.permissions : undefined;
  if (base && !inherited)
    throw new ExecError('invalidConfiguration', 'A permission profile can only extend one that confines.');
  const files = inherited?.file_system;
  const own = Object.entries(table.filesystem).flatMap(([place, access]) => entriesOf(place, access));
  const before = files?.type === 'restricted' ? files.entries : [];
  const networkRules = table.network ? rulesOf(table.network) : base?.networkRules;
  const network = table.network ? permissionOf(table.network) : inherited?.network;
  const protectedNames = table.protected_names ?? base?.protectedNames;
  const maxProcesses = table.max_processes ?? base?.maxProcesses;
  const sockets = table.unix_sockets === undefined ? base?.unixSockets : socketAccess(table.unix_sockets);
  return {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries: [...before.filter(notOverridden(own)), ...own] },
      network: network ?? 'restricted',
    },
    ...(protectedNames && { protectedNames }),
    ...(maxProcesses && { maxProcesses }),
    ...(sockets && { unixSockets: sockets }),
    ...(networkRules && { networkRules }),
  };
}

type NetworkTable = NonNullable<Tables[string]['network']>;

/** With `domains`, only those; with `ask`, others that the client allows. */
function rulesOf(table: NetworkTable): NetworkRules | undefined {
  if (!table.enabled || !tellsHostsApart(table)) return undefined;
  const { domains = {}, ask = false } = table;
  const those = (wanted: string): string[] =>
    Object.entries(domains).flatMap(([pattern, access]) => (access === wanted ? [pattern] : []));
  return { allow: those('allow'), deny: those('deny'), ...(ask ? { ask } : {}) };
}

/** A server that does not know rules for hosts must not open the whole network. */
function permissionOf(table: NetworkTable): 'enabled' | 'restricted' {
  return table.enabled && !tellsHostsApart(table) ? 'enabled' : 'restricted';
}

function tellsHostsApart({ domains, ask }: NetworkTable): boolean {
  return domains !== undefined || ask === true;
}

const socketAccess = (allowed: boolean): 'allowed' | 'blocked' => (allowed ? 'allowed' : 'blocked');

/** An entry of a profile replaces its base's entry for the same path. */
function notOverridden(own: readonly PermissionEntry[]): (entry: PermissionEntry) => boolean {
  const overridden = new Set(own.map(({ path }) => JSON.stringify(path)));
  return ({ path }) => !overridden.has(JSON.stringify(path));
}

type PlaceAccess = z.output<typeof ProfileAccess>;

function entriesOf(place: string, access: PlaceAccess | Record<string, PlaceAccess>): PermissionEntry[] {
  if (typeof access === 'string') return [{ path: pathOf(place), access }];
  return Object.entries(access).map(([subpath, own]) => ({ path: pathOf(place, subpath), access: own }));
}

function pathOf(place: string, subpath?: string): PermissionEntry['path'] {
  const inner = subpath === undefined || subpath === '.' ? undefined : subpath;
  const value = Object.hasOwn(SPECIAL_NAMES, place) ? SPECIAL_NAMES[place] : undefined;
  if (value) return { type: 'special', value: withSubpath(value, { place, inner }) };
  const joined = inner === undefined ? place : `${place}/${inner}`;
  if (!joined.startsWith('/'))
    throw new ExecError('invalidConfiguration', `${place} in a permission profile must be an absolute path.`);
  if (/[*?]/.test(joined)) return { type: 'glob_pattern', pattern: joined };
  return { type: 'path', path: pathToFileURL(joined).href };
}

function withSubpath(
  value: SpecialPath,
  { place, inner }: { place: string; inner: string | undefined },
): SpecialPath {
  if (inner === undefined) return value;
  if (value.kind === 'project_roots') return { ...value, subpath: inner };
  throw new ExecError('invalidConfiguration', `${place} in a permission profile cannot have subpaths.`);
}
