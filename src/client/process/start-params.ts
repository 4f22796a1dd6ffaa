import { HOME, nothingKept, type ProcessSpec, type TerminalSize } from '../../contract/index.js';
import {
  type EnvironmentInfo,
  ExecError,
  type ExecParams,
  type ServerCapabilities,
} from '../../protocol/index.js';
import { directoryUri } from './directory-uri.js';
import { unsupported } from '../connection/remote-errors.js';

/** Passes on all variables of the remote machine. */
const INHERIT_ALL = {
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
} as const;

/** The only size other servers support. */
const FIXED_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** The server's properties that a start depends on. Undefined: not known yet. */
export type StartContext = KnownServer | undefined;

interface KnownServer {
  readonly info: EnvironmentInfo;
  readonly capabilities: ServerCapabilities;
}

/** Converts a spec to the params of `process/start`. Throws `unsupported` for settings the server would ignore. */
export function startParams(
  processId: string,
  spec: ProcessSpec,
  context: StartContext,
): ExecParams<'process/start'> {
  return {
    processId,
    argv: [...spec.argv],
    ...directoryField(spec, context),
    ...environmentFields(spec),
    tty: spec.tty ?? false,
    pipeStdin: spec.pipeStdin ?? false,
    ...(spec.arg0 === undefined ? {} : { arg0: spec.arg0 }),
    ...sizeField(spec, context?.capabilities ?? { startSize: true }),
    ...timeLimitField(spec, context?.capabilities),
    // A server that does not know it reports nothing.
    ...(spec.reportUsage ? { reportUsage: true } : {}),
    ...limitsField(spec, context?.capabilities),
    ...leaseField(spec, context?.capabilities),
    ...sandboxField(spec, context?.capabilities),
    ...spoolFields(spec, context?.capabilities),
  };
}

/**
 * Whether a start may be sent before the server has introduced itself: it must mean the same to every server that does
 * not refuse it. Servers without `ahead` refuse a start without a directory, and all others support the rest as well.
 */
export function mayStartEarly(spec: ProcessSpec): boolean {
  if (spec.sandbox?.networkRules || spec.sandbox?.changes) return false;
  if (spec.limits || hasLease(spec) || spec.retain === 'disk' || spec.onSlowReader === 'spool') return false;
  return spec.cwd === undefined || spec.cwd === HOME || !spec.tty || !spec.size;
}

/** A server that does not know rules for hosts would leave the process without any network, and nobody would know why. */
function sandboxField(
  { sandbox }: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): Pick<ExecParams<'process/start'>, 'sandbox'> {
  if (sandbox === undefined) return {};
  if (sandbox?.networkRules && !capabilities?.networkRules) throw noRulesThere();
  if (sandbox?.networkRules?.ask && !capabilities?.networkAsk) throw asksNobody();
  if (sandbox?.changes && !capabilities?.changes) throw nothingHeldThere();
  return { sandbox };
}

/** A server that does not know held changes would make them immediately. */
function nothingHeldThere(): ExecError {
  return new ExecError('sandboxUnavailable', 'That server cannot hold changes, so nothing was run.', {
    data: {
      reason: 'changes',
      hint: 'Ask `environment/info` why, update the server, or run without `changes`.',
    },
  });
}

function noRulesThere(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'That server does not support rules for hosts, so nothing was run.',
    {
      data: { reason: 'networkRules', hint: 'Update the server, or allow the whole network or none of it.' },
    },
  );
}

function asksNobody(): ExecError {
  return new ExecError('sandboxUnavailable', 'That server cannot ask about hosts, so nothing was run.', {
    data: { reason: 'networkAsk', hint: 'Update the server, or name the hosts and leave `ask` out.' },
  });
}

function spoolFields(
  { retain, onSlowReader }: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): Pick<ExecParams<'process/start'>, 'retain' | 'onSlowReader'> {
  if (retain !== 'disk' && onSlowReader !== 'spool') return {};
  if (!capabilities?.spool)
    throw unsupported('keeping output on disk; leave `retain` and `onSlowReader` out');
  return { ...(retain ? { retain } : {}), ...(onSlowReader ? { onSlowReader } : {}) };
}

/** Without `cwd`, the server's own working directory; before that is known, the choice is left to the server. */
function directoryField(
  { cwd }: ProcessSpec,
  context: StartContext,
): Pick<ExecParams<'process/start'>, 'cwd' | 'startAtHome'> {
  if (cwd === HOME) return homeField(context);
  if (cwd !== undefined) return { cwd: directoryUri(cwd) };
  return context ? { cwd: context.info.cwd ?? context.info.userHomeDir ?? 'file:///' } : {};
}

/** Our servers find a substitute for a home directory that cannot be entered; others are told where it is. */
function homeField(context: StartContext): Pick<ExecParams<'process/start'>, 'cwd' | 'startAtHome'> {
  if (!context || context.capabilities.startAtHome) return { startAtHome: true };
  return { cwd: context.info.userHomeDir ?? context.info.cwd ?? 'file:///' };
}

/**
 * The protocol can only unset variables with the policy's patterns, which ignore case: a variable that differs only in
 * case is unset too.
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

/**
 * Sent even before it is known whether the server enforces limits: one that does not ignores it, and the client
 * enforces it.
 */
function timeLimitField(
  { timeoutMs }: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): { timeoutMs?: number } {
  return timeoutMs === undefined || (capabilities && !capabilities.startTimeout) ? {} : { timeoutMs };
}

/** A server that does not know limits would ignore them. */
function limitsField(
  { limits }: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): Pick<ExecParams<'process/start'>, 'limits'> {
  if (!limits) return {};
  if (capabilities?.processLimits) return { limits };
  throw new ExecError('limitsUnavailable', 'That server cannot enforce limits, so nothing was run.', {
    data: { hint: 'Update the server, or start without `limits`.' },
  });
}

/** Whether the process may outlive its session. */
export function hasLease({ lease = 'session' }: Pick<ProcessSpec, 'lease'>): boolean {
  return lease !== 'session';
}

/** A server that does not know leases would ignore it, and end what was meant to stay. */
function leaseField(
  spec: ProcessSpec,
  capabilities: ServerCapabilities | undefined,
): Pick<ExecParams<'process/start'>, 'lease'> {
  if (!hasLease(spec)) return {};
  if (!capabilities?.leases) throw nothingKept();
  return { lease: spec.lease };
}

function sizeField({ tty, size }: ProcessSpec, capabilities: ServerCapabilities): { size?: TerminalSize } {
  if (!tty || !size) return {};
  if (capabilities.startSize) return { size };
  if (size.rows === FIXED_SIZE.rows && size.cols === FIXED_SIZE.cols) return {};
  throw unsupported('terminals of a chosen size; leave `size` out for 24 rows and 80 columns');
}
