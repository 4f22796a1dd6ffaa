/** What may be done with a path. */
export type Access = 'read' | 'write' | 'none';

/** A rule for a path and everything below it. */
export interface PathRule {
  /** Absolute and normalised; links are not resolved yet. */
  readonly path: string;
  readonly access: Access;
  /**
   * What happens while the path does not exist. `block`: it cannot be created, even if its parent is writable.
   * `skip`: the rule applies only if the path exists.
   */
  readonly whenMissing: 'block' | 'skip';
  /** `skip`: the rule does not apply if the path contains a link that others can replace. Otherwise the start fails. */
  readonly whenLink?: 'skip';
}

/** Files with matching names are hidden. Matched when a process starts; files created later are not covered. */
export interface HiddenPattern {
  /** Absolute. See `glob.ts` for the syntax. */
  readonly pattern: string;
  /** How many levels to search below the fixed part of the pattern. */
  readonly maxDepth: number;
}

/** Which files a process can access. */
export type FilePolicy =
  | { readonly kind: 'unrestricted' }
  | {
      readonly kind: 'restricted';
      /** The longest matching path decides. Without a matching rule, nothing is visible. */
      readonly rules: readonly PathRule[];
      readonly hidden: readonly HiddenPattern[];
    };

/** The single model that every kind of sandbox request resolves to. Plain data; nothing in it comes from the disk. */
export type SandboxPolicy =
  /** Nothing to enforce: access is unrestricted, or something else confines the server. */
  | { readonly kind: 'open' }
  | {
      readonly kind: 'confined';
      readonly files: FilePolicy;
      /** `managed`: a network of its own, with a proxy as the only way out. */
      readonly network: 'restricted' | 'enabled' | 'managed';
      /**
       * The host's sockets (a container daemon, an agent with keys) bypass a file policy, with or without network. So
       * they are blocked unless a profile of this machine's owner allows them.
       */
      readonly unixSockets: 'blocked' | 'allowed';
      /** Maximum number of processes inside; null: the user's own limit. */
      readonly maxProcesses: number | null;
    };

/** A policy that confines something. */
export type ConfinedPolicy = Extract<SandboxPolicy, { kind: 'confined' }>;

/** Read-only below every writable root, existing or not: their contents decide what the user's own tools run. */
export const DEFAULT_PROTECTED_NAMES: readonly string[] = ['.git', '.codex', '.agents'];

/** The paths programs need to run at all, on common systems. */
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

/** Between rules for the same path, hiding wins over granting, and write wins over read. */
const PRECEDENCE: Record<Access, number> = { none: 2, write: 1, read: 0 };

/** Indexes the rules by path. Of several rules for one path, the strongest wins. */
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

/** The access to a path: the rule for it or its nearest ancestor decides. */
export function accessAt(rules: ReadonlyMap<string, PathRule>, path: string): Access {
  for (let at = path; ; at = parentOf(at)) {
    const rule = rules.get(at);
    if (rule !== undefined) return rule.access;
    if (at === '/') return 'none';
  }
}

/** The parent directory; the root is its own parent. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** True if `path` is `place` or below it. */
export function isWithin(path: string, place: string): boolean {
  return path === place || place === '/' || path.startsWith(`${place}/`);
}
