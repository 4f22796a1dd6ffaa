import type { EnvPolicy } from '../protocol/index.js';
import { fitsPattern, MANY } from './kernel/index.js';

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

/** Credentials of the server and its clients; no child ever sees them, whoever asks. */
const NEVER_PASSED = [
  'CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE',
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'NODE_REPL_AUTH_TOKEN',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
];

/**
 * The environment of a child: the machine's own variables as far as the policy lets them through, then the
 * request's on top, which no filter touches. Without a policy the request's variables are all there is.
 */
export function childEnvironment(request: {
  readonly own: NodeJS.ProcessEnv;
  readonly policy: EnvPolicy | null;
  /** `null` takes a variable away, by its exact name. */
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
  const dropped = [...(policy.ignoreDefaultExcludes ? [] : SECRET_PATTERNS), ...policy.exclude].map(nameTest);
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || policy.inherit === 'none') continue;
    if (policy.inherit === 'core' && !CORE_NAMES.has(name)) continue;
    if (!dropped.some((fitsName) => fitsName(name))) kept[name] = value;
  }
  Object.assign(kept, policy.set);
  if (policy.includeOnly.length === 0) return kept;
  const wanted = policy.includeOnly.map(nameTest);
  return Object.fromEntries(
    Object.entries(kept).filter(([name]) => wanted.some((fitsName) => fitsName(name))),
  );
}

type NameTest = (name: string) => boolean;

/** `*` and `?` over names, whatever their case. */
function nameTest(glob: string): NameTest {
  const pattern = glob
    .toLowerCase()
    .split('')
    .map((part) => (part === '*' ? MANY : part));
  const isOne = (part: string, character: string): boolean => part === '?' || part === character;
  return (name) => fitsPattern(pattern, name.toLowerCase(), isOne);
}
