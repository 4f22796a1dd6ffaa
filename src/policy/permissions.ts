import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExecError } from '../protocol/errors.js';
import type { PermissionEntry, Permissions, Sandbox } from '../protocol/index.js';
import {
  type Access,
  DEFAULT_PROTECTED_NAMES,
  type HiddenPattern,
  isWithin,
  PLATFORM_PATHS,
  type PathRule,
  type SandboxPolicy,
} from './policy.js';

/** What the symbolic names in a policy mean for one process. All paths are absolute. */
export interface PolicyContext {
  readonly cwd: string;
  /** The meaning of `project_roots`. */
  readonly workspaceRoots: readonly string[];
  /** The meaning of `tmpdir`. */
  readonly temporaryDirectories: readonly string[];
  /** Names kept read-only below writable roots. Default: `.git`, `.codex`, `.agents`. */
  readonly protectedNames?: readonly string[];
  readonly unixSockets?: 'blocked' | 'allowed';
  readonly maxProcesses?: number | null;
}

/** Deep enough for any source tree, yet it ends the search in an endless one. */
const DEFAULT_GLOB_DEPTH = 32;

/**
 * The context from the request itself: its own members first, then the cwd and TMPDIR of the process. An empty list of
 * roots grants nothing, unlike a missing one.
 */
export function contextOf(
  sandbox: Sandbox,
  process: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): PolicyContext {
  const { policyContext, userHomeDir } = sandbox;
  const namedCwd = policyContext?.cwd ?? sandbox.cwd;
  const cwd = namedCwd ? pathOfUri(namedCwd) : process.cwd;
  const temporary = sandbox.temporaryDirectories?.map(pathOfUri) ?? [];
  const roots = policyContext ? (policyContext.workspaceRoots ?? []) : sandbox.workspaceRoots;
  if (userHomeDir != null) pathOfUri(userHomeDir);
  return {
    cwd,
    workspaceRoots: roots?.map(pathOfUri) ?? [cwd],
    temporaryDirectories: temporary.length > 0 ? temporary : temporaryDirectoryOf(process.env),
    ...(sandbox.protectedNames === undefined ? {} : { protectedNames: sandbox.protectedNames }),
    ...(sandbox.unixSockets === undefined ? {} : { unixSockets: sandbox.unixSockets }),
    ...(sandbox.maxProcesses === undefined ? {} : { maxProcesses: sandbox.maxProcesses }),
  };
}

/** TMPDIR, if it is an absolute path. */
export function temporaryDirectoryOf(env: Readonly<Record<string, string>>): readonly string[] {
  const named = env.TMPDIR;
  return named?.startsWith('/') && !named.includes('\0') ? [posix.resolve(named)] : [];
}

/** Resolves a `permissions` object. */
export function policyFromPermissions(permissions: Permissions, context: PolicyContext): SandboxPolicy {
  if (permissions.type !== 'managed') return { kind: 'open' };
  const { file_system: files, network } = permissions;
  const { unixSockets = 'blocked', maxProcesses = null } = context;
  if (files.type === 'unrestricted' && network === 'enabled' && maxProcesses === null)
    return { kind: 'open' };
  const common = { kind: 'confined', network, unixSockets, maxProcesses } as const;
  if (files.type === 'unrestricted') return { ...common, files: { kind: 'unrestricted' } };
  const maxDepth = files.glob_scan_max_depth ?? DEFAULT_GLOB_DEPTH;
  const granted = files.entries.flatMap((entry) => rulesOf(entry, context));
  const rules = granted.map(({ rule }) => rule);
  const hidden = files.entries.flatMap((entry) => patternOf(entry, { cwd: context.cwd, maxDepth }));
  return {
    ...common,
    files: { kind: 'restricted', rules: [...rules, ...protections(granted, context)], hidden },
  };
}

interface GrantedRule {
  readonly rule: PathRule;
  /** Temporary directories are shared with other users: we do not block names in them with placeholders. */
  readonly temporary: boolean;
}

function rulesOf(entry: PermissionEntry, context: PolicyContext): GrantedRule[] {
  if (entry.path.type === 'glob_pattern') return [];
  const access: Access = entry.access === 'deny' ? 'none' : entry.access;
  const whenMissing = entry.missing_path_behavior === 'skip' ? 'skip' : 'block';
  const temporary = entry.path.type === 'special' && ['tmpdir', 'slash_tmp'].includes(entry.path.value.kind);
  return placesOf(entry.path, context).map((path) => ({ rule: { path, access, whenMissing }, temporary }));
}

function placesOf(
  path: Exclude<PermissionEntry['path'], { type: 'glob_pattern' }>,
  context: PolicyContext,
): readonly string[] {
  if (path.type === 'path') return [pathOfUri(path.path)];
  switch (path.value.kind) {
    case 'root':
      return ['/'];
    case 'minimal':
      return PLATFORM_PATHS;
    case 'current_working_directory':
    case 'project_roots': {
      const { subpath } = path.value;
      return context.workspaceRoots.map((root) => (subpath ? below(root, subpath) : root));
    }
    case 'tmpdir':
      return context.temporaryDirectories;
    case 'slash_tmp':
      return ['/tmp'];
    case 'unknown':
      return [];
  }
}

/** A subpath must stay below its root: otherwise it would grant access to something else. */
function below(root: string, subpath: string): string {
  const path = posix.resolve(root, subpath);
  const outside = posix.relative(root, path).split('/')[0] === '..';
  if (outside || posix.isAbsolute(subpath) || subpath.includes('\0'))
    throw new ExecError('invalidParams', 'A subpath of a sandbox entry leaves its root.');
  return path;
}

function patternOf(
  entry: PermissionEntry,
  { cwd, maxDepth }: { cwd: string; maxDepth: number },
): HiddenPattern[] {
  if (entry.path.type !== 'glob_pattern') return [];
  const { pattern } = entry.path;
  if (entry.access === 'read' || entry.access === 'write')
    throw new ExecError('invalidParams', 'A glob pattern in a sandbox entry can only take access away.');
  if (pattern.includes('\0')) throw new ExecError('invalidParams', 'A glob pattern contains a NUL byte.');
  return [{ pattern: posix.resolve(escapeGlob(cwd), pattern), maxDepth }];
}

/** Read-only names below each writable root. An entry that makes such a path writable takes precedence. */
function protections(granted: readonly GrantedRule[], context: PolicyContext): PathRule[] {
  const names = (context.protectedNames ?? DEFAULT_PROTECTED_NAMES).map(plainName);
  const writable = granted.filter(({ rule }) => rule.access === 'write');
  // `/` does not count as a root: nothing is placed there. The workspace below it does.
  const whole = writable.some(({ rule }) => rule.path === '/');
  const workspaces = whole ? context.workspaceRoots.map((path) => workspaceIn(path, context)) : [];
  const roots = [...writable, ...workspaces].filter(({ rule }) => rule.path !== '/');
  const kept = roots.flatMap(({ rule }) => names.map((name) => posix.join(rule.path, name)));
  // A root that is itself such a directory, or lies in one of another root, was granted on purpose.
  const onPurpose = (path: string) =>
    names.includes(posix.basename(path)) || kept.some((place) => isWithin(path, place));
  return roots
    .filter(({ rule }) => !onPurpose(rule.path))
    .flatMap(({ rule, temporary }) =>
      names.map((name) => protection(posix.join(rule.path, name), temporary)),
    );
}

function workspaceIn(path: string, { temporaryDirectories }: PolicyContext): GrantedRule {
  const rule: PathRule = { path, access: 'write', whenMissing: 'skip' };
  return { rule, temporary: path === '/tmp' || temporaryDirectories.includes(path) };
}

/** Anyone can leave a link in a temporary directory, and must not be able to prevent every start that way. */
function protection(path: string, temporary: boolean): PathRule {
  return temporary
    ? { path, access: 'read', whenMissing: 'skip', whenLink: 'skip' }
    : { path, access: 'read', whenMissing: 'block' };
}

/** A name that is a path could reveal what the policy hides, or create directories elsewhere. */
function plainName(name: string): string {
  if (/^[^/\0]+$/.test(name) && name !== '.' && name !== '..') return name;
  throw new ExecError('invalidParams', 'A protected name of the sandbox is not the name of a file.');
}

/** Characters that URI parsing drops or reinterprets: the result would not be the intended path. */
const AMBIGUOUS = /[\p{Cc}?#\\]|^ | $/u;

function pathOfUri(uri: string): string {
  try {
    if (AMBIGUOUS.test(uri)) throw new Error('characters that must be escaped');
    const path = posix.resolve(fileURLToPath(uri));
    if (path.includes('\0')) throw new Error('NUL byte');
    return path;
  } catch (cause) {
    throw new ExecError('invalidParams', 'A path of the sandbox is not a file URI of this machine.', {
      cause,
    });
  }
}

/** Escapes text so that a pattern matches it literally. */
function escapeGlob(text: string): string {
  return text.replaceAll(/[*?[\]{},\\]/g, String.raw`\$&`);
}
