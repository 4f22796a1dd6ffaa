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

/** What the other side is and can do, as far as a start depends on it. */
export interface StartContext {
  readonly info: EnvironmentInfo;
  readonly capabilities: ServerCapabilities;
}

/** A specification as `process/start` takes it. Throws `unsupported` for what the server would ignore. */
export function startParams(
  processId: string,
  spec: ProcessSpec,
  { info, capabilities }: StartContext,
): ExecParams<'process/start'> {
  return {
    processId,
    argv: [...spec.argv],
    cwd: spec.cwd === undefined ? (info.cwd ?? info.userHomeDir ?? 'file:///') : directoryUri(spec.cwd),
    ...environmentFields(spec),
    tty: spec.tty ?? false,
    pipeStdin: spec.pipeStdin ?? false,
    ...(spec.arg0 === undefined ? {} : { arg0: spec.arg0 }),
    ...sizeField(spec, capabilities),
    ...(spec.timeoutMs === undefined || !capabilities.startTimeout ? {} : { timeoutMs: spec.timeoutMs }),
    ...(spec.sandbox === undefined ? {} : { sandbox: spec.sandbox }),
  };
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

function sizeField({ tty, size }: ProcessSpec, capabilities: ServerCapabilities): { size?: TerminalSize } {
  if (!tty || !size) return {};
  if (capabilities.startSize) return { size };
  if (size.rows === FIXED_SIZE.rows && size.cols === FIXED_SIZE.cols) return {};
  throw unsupported('terminals of a chosen size; leave `size` out for 24 rows and 80 columns');
}
