/** What may be done with a path. */
export type Access = 'read' | 'write' | 'none';

/** One statement about a path and everything below it. */
export interface PathRule {
  /** Absolute and normalised, links not yet followed. */
  readonly path: string;
  readonly access: Access;
  /**
   * What holds while the path does not exist. `block`: it cannot be created where its parent is writable.
   * `skip`: the rule counts only if the path exists.
   */
  readonly whenMissing: 'block' | 'skip';
  /** `skip`: the rule does not count where the path passes a link that may be replaced. Otherwise there is no process then. */
  readonly whenLink?: 'skip';
}

/** Files of these names are out of reach. Looked for when a process starts; later ones are not covered. */
export interface HiddenPattern {
  /** Absolute. What it may contain is told in `glob.ts`. */
  readonly pattern: string;
  /** How many directories deep below the fixed part of the pattern. */
  readonly maxDepth: number;
}

/** Which files a process reaches. */
export type FilePolicy =
  | { readonly kind: 'unrestricted' }
  | {
      readonly kind: 'restricted';
      /** The longest path decides. Where no rule speaks, nothing is visible. */
      readonly rules: readonly PathRule[];
      readonly hidden: readonly HiddenPattern[];
    };

/** The one model every way to ask for a sandbox resolves to. Plain data; nothing in it was looked up on disk. */
export type SandboxPolicy =
  /** Nothing for us to enforce: access is full, or someone else confines the server. */
  | { readonly kind: 'open' }
  | {
      readonly kind: 'confined';
      readonly files: FilePolicy;
      readonly network: 'restricted' | 'enabled';
      /**
       * Sockets of the host (a container daemon, an agent with keys) undo a file policy, with or without
       * network. So they are blocked unless a profile of this machine's owner allows them.
       */
      readonly unixSockets: 'blocked' | 'allowed';
      /** How many processes may exist inside at once; null: as many as the user may have. */
      readonly maxProcesses: number | null;
    };

/** A policy there is something to enforce of. */
export type ConfinedPolicy = Extract<SandboxPolicy, { kind: 'confined' }>;

/** Read-only below every writable root, existing or not: whoever writes here decides what the user's own tools run. */
export const DEFAULT_PROTECTED_NAMES: readonly string[] = ['.git', '.codex', '.agents'];

/** What programs need to run at all, on the usual layouts. */
export const PLATFORM_PATHS: readonly string[] = [
  '/bin',
  '/sbin',
  '/usr',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/nix/store',
  '/run/current-system/sw',
];

/** Among rules for the same path: hiding beats granting, and a grant beats what it widens. */
const PRECEDENCE: Record<Access, number> = { none: 2, write: 1, read: 0 };

/** The rules by path, one each, the stronger of two equals. */
export function indexRules(rules: readonly PathRule[]): ReadonlyMap<string, PathRule> {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const known = byPath.get(rule.path);
    if (known === undefined || strength(rule) > strength(known)) byPath.set(rule.path, rule);
  }
  return byPath;
}

function strength({ access, whenMissing }: PathRule): number {
  return 2 * PRECEDENCE[access] + (whenMissing === 'block' ? 1 : 0);
}

/** What the rules say about a path: the nearest one above it decides. */
export function accessAt(rules: ReadonlyMap<string, PathRule>, path: string): Access {
  for (let at = path; ; at = parentOf(at)) {
    const rule = rules.get(at);
    if (rule !== undefined) return rule.access;
    if (at === '/') return 'none';
  }
}

/** The directory a path is in; the root is in itself. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** True for the place itself and everything below it. */
export function isWithin(path: string, place: string): boolean {
  return path === place || place === '/' || path.startsWith(`${place}/`);
}
