import type { ProcessSpec, TerminalSize } from '../contract/index.js';
import type { EnvironmentInfo, ExecParams, ServerCapabilities } from '../protocol/index.js';
import { directoryUri } from './directory-uri.js';
import { unsupported } from './remote-errors.js';

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
    env: { ...spec.env },
    envPolicy:
      spec.envPolicy === undefined ? { ...INHERIT_ALL, exclude: [], includeOnly: [] } : spec.envPolicy,
    tty: spec.tty ?? false,
    pipeStdin: spec.pipeStdin ?? false,
    ...(spec.arg0 === undefined ? {} : { arg0: spec.arg0 }),
    ...sizeField(spec, capabilities),
    ...(spec.timeoutMs === undefined || !capabilities.startTimeout ? {} : { timeoutMs: spec.timeoutMs }),
    ...(spec.sandbox === undefined ? {} : { sandbox: spec.sandbox }),
  };
}

function sizeField({ tty, size }: ProcessSpec, capabilities: ServerCapabilities): { size?: TerminalSize } {
  if (!tty || !size) return {};
  if (capabilities.startSize) return { size };
  if (size.rows === FIXED_SIZE.rows && size.cols === FIXED_SIZE.cols) return {};
  throw unsupported('terminals of a chosen size; leave `size` out for 24 rows and 80 columns');
}
