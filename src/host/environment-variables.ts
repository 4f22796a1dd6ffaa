import type { EnvPolicy } from '../protocol/index.js';
import { anyCharacter, GlobMachine, only, type PatternToken } from './kernel/index.js';

/** What `inherit: "core"` lets through. */
const CORE_NAMES = new Set([
  'PATH',
  'SHELL',
  'TMPDIR',
  'TEMP',
  'TMP',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'USER',
]);

const SECRET_PATTERNS = ['*KEY*', '*SECRET*', '*TOKEN*'];

/** Credentials of the server and its clients; never passed to a child, even on request. */
const NEVER_PASSED = [
  'CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE',
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'NODE_REPL_AUTH_TOKEN',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
];

/**
 * The environment of a child: the machine's own variables as filtered by the policy, then the request's on top,
 * unfiltered. Without a policy only the request's variables are used.
 */
export function childEnvironment(request: {
  readonly own: NodeJS.ProcessEnv;
  readonly policy: EnvPolicy | null;
  /** `null` removes a variable, by its exact name. */
  readonly overlay: Readonly<Record<string, string | null>>;
}): Record<string, string> {
  const { own, policy, overlay } = request;
  const variables = policy ? inherited(own, policy) : {};
  for (const [name, value] of Object.entries(overlay)) {
    if (value === null) delete variables[name];
    else variables[name] = value;
  }
  for (const name of NEVER_PASSED) delete variables[name];
  return variables;
}

function inherited(own: NodeJS.ProcessEnv, policy: EnvPolicy): Record<string, string> {
  const isDropped = nameTest([...(policy.ignoreDefaultExcludes ? [] : SECRET_PATTERNS), ...policy.exclude]);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || policy.inherit === 'none') continue;
    if (policy.inherit === 'core' && !CORE_NAMES.has(name)) continue;
    if (!isDropped(name)) kept[name] = value;
  }
  Object.assign(kept, policy.set);
  if (policy.includeOnly.length === 0) return kept;
  const isWanted = nameTest(policy.includeOnly);
  return Object.fromEntries(Object.entries(kept).filter(([name]) => isWanted(name)));
}

/** Policies hardly change from one process to the next. */
const MAX_MACHINES = 16;
const machines = new Map<string, GlobMachine>();

/** Tests whether a name matches one of these patterns. */
function nameTest(globs: readonly string[]): (name: string) => boolean {
  const key = globs.join('\0');
  const machine = machines.get(key) ?? new GlobMachine(globs.map(tokensOf));
  if (machines.size >= MAX_MACHINES) machines.clear();
  machines.set(key, machine);
  return (name) => machine.matches(name.toLowerCase());
}

/** `*` and `?` within names, case-insensitive. */
function tokensOf(glob: string): PatternToken[] {
  return Array.from(glob.toLowerCase(), (character) => {
    if (character === '*') return { kind: 'many', fits: anyCharacter };
    return { kind: 'one', fits: character === '?' ? anyCharacter : only(character.codePointAt(0) ?? 0) };
  });
}
