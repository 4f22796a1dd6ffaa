import type { ProcessSpec, TerminalSize } from '../../contract/index.js';
import type { EnvironmentInfo, ExecParams, ServerCapabilities } from '../../protocol/index.js';
import { directoryUri } from './directory-uri.js';
import { unsupported } from '../connection/remote-errors.js';

/** Lets the machine's own variables through, all of them. */
const INHERIT_ALL = {
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
} as const;

/** The only size other servers have. */
const FIXED_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** What the other side is and can do, as far as a start depends on it. Undefined: it has not said yet. */
export type StartContext = KnownServer | undefined;

interface KnownServer {
  readonly info: EnvironmentInfo;
  readonly capabilities: ServerCapabilities;
}

/** A specification as `process/start` takes it. Throws `unsupported` for what the server would ignore. */
export function startParams(
  processId: string,
  spec: ProcessSpec,
  context: StartContext,
): ExecParams<'process/start'> {
  return {
    processId,
    argv: [...spec.argv],
    ...directoryField(spec, context?.info),
    ...environmentFields(spec),
    tty: spec.tty ?? false,
    pipeStdin: spec.pipeStdin ?? false,
    ...(spec.arg0 === undefined ? {} : { arg0: spec.arg0 }),
    ...sizeField(spec, context?.capabilities ?? { startSize: true }),
    ...timeLimitField(spec, context?.capabilities),
    ...(spec.sandbox === undefined ? {} : { sandbox: spec.sandbox }),
  };
}

/**
 * Whether a start may go out before the server has said what it is: it must mean the same to every server that does not
 * refuse it. One without a directory is refused by servers that do not know `ahead`, all others know the rest as well.
 */
export function goesAhead(spec: ProcessSpec): boolean {
  return spec.cwd === undefined || !spec.tty || !spec.size;
}

/** Nowhere in particular is where the server works; before that is known, it is left to the server. */
function directoryField({ cwd }: ProcessSpec, info: EnvironmentInfo | undefined): { cwd?: string } {
  if (cwd !== undefined) return { cwd: directoryUri(cwd) };
  return info ? { cwd: info.cwd ?? info.userHomeDir ?? 'file:///' } : {};
}

/**
 * The wire has no word for "without this variable" but patterns of the policy, which ignore case: one that
 * differs in case alone goes along.
 */
function environmentFields(spec: ProcessSpec): Pick<ExecParams<'process/start'>, 'env' | 'envPolicy'> {
  const env: Record<string, string> = {};
  const unset: string[] = [];
  for (const [name, value] of Object.entries(spec.env ?? {})) {
    if (value === null) unset.push(name);
    else env[name] = value;
  }
  const policy = spec.envPolicy === undefined ? INHERIT_ALL : spec.envPolicy;
  if (policy === null) return { env, envPolicy: null };
  if (unset.some((name) => /[*?]/.test(name))) throw unsupported('unsetting names that look like patterns');
  return {
    env,
    envPolicy: {
      ...policy,
      exclude: [...policy.exclude, ...unset],
      includeOnly: [...policy.includeOnly],
    },
  };
}

/** Sent before it is known whether the server keeps time: one that does not leaves it unread, and we do. */
function timeLimitField(
  { timeoutMs }: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): { timeoutMs?: number } {
  return timeoutMs === undefined || (capabilities && !capabilities.startTimeout) ? {} : { timeoutMs };
}

function sizeField({ tty, size }: ProcessSpec, capabilities: ServerCapabilities): { size?: TerminalSize } {
  if (!tty || !size) return {};
  if (capabilities.startSize) return { size };
  if (size.rows === FIXED_SIZE.rows && size.cols === FIXED_SIZE.cols) return {};
  throw unsupported('terminals of a chosen size; leave `size` out for 24 rows and 80 columns');
}
