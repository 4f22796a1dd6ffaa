import { readFileSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import type { ProcessLimits } from '../../protocol/index.js';
import { trustedProgram } from '../kernel/index.js';
import type { ChildSpec } from './child.js';
import { locateProgram, runnableErrno } from './locate-program.js';
import { explainSpawnError } from './spawn-failure.js';

/** Seconds between the signal that a program may catch, SIGXCPU, and the one that it may not. */
const CPU_GRACE_SECONDS = 1;

/** True if limits can be enforced on this machine. */
export function limitsAvailable(): boolean {
  return process.platform === 'linux' && trustedProgram('prlimit') !== null;
}

/** Throws where limits cannot be enforced: a program must not run without them. */
export function assertLimits(limits: ProcessLimits): void {
  if (
    !Object.values(limits).every((limit) => limit === undefined || (Number.isSafeInteger(limit) && limit > 0))
  )
    throw new ExecError('invalidParams', 'A limit must be a whole number of at least 1.');
  if (limitsAvailable()) return;
  throw new ExecError('limitsUnavailable', 'Limits need Linux and prlimit, so nothing was run.', {
    data: { hint: 'Install util-linux, or start without `limits`.' },
  });
}

/**
 * Options for `prlimit`. Memory is RLIMIT_DATA rather than RLIMIT_AS: the address space that Node.js, Go and Java
 * reserve at start is many times the memory they use.
 */
export function limitOptions({ memoryBytes, cpuSeconds, openFiles }: ProcessLimits): string[] {
  const option = (name: string, row: string, soft: number | undefined, grace = 0): string[] => {
    if (soft === undefined) return [];
    // Nobody but root may raise a hard limit, and the lower one holds anyway.
    const most = hardLimit(row);
    return [`--${name}=${Math.min(soft, most)}:${Math.min(soft + grace, most)}`];
  };
  return [
    ...option('data', 'Max data size', memoryBytes),
    ...option('cpu', 'Max cpu time', cpuSeconds, CPU_GRACE_SECONDS),
    ...option('nofile', 'Max open files', openFiles),
  ];
}

/** Our own, which children inherit. */
function hardLimit(row: string): number {
  const line = readFileSync('/proc/self/limits', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(row));
  const [, hard = 'unlimited'] = line?.slice(row.length).trim().split(/\s+/) ?? [];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}

/**
 * The same program, started by `prlimit`, which becomes it. Setting the limits from here, after the start, would be too
 * late for whatever the program starts first.
 */
export function withLimits({ limits, ...spec }: ChildSpec): ChildSpec {
  if (!limits) return spec;
  assertLimits(limits);
  const program = locateProgram(spec);
  const errno = runnableErrno(program);
  if (errno !== null) throw explainSpawnError(spec, program, errno);
  const { arg0, argv, ...rest } = spec;
  const before = [trustedProgram('prlimit') ?? '', ...limitOptions(limits), '--'];
  if (arg0 !== undefined && arg0 !== argv[0])
    return { ...rest, argv: [...before, ...renamed(arg0), program, ...argv.slice(1)] };
  // Looked up by the same rules again, so that the program sees the name it was called by.
  const name = spec.env.PATH === undefined ? program : (argv[0] ?? program);
  return { ...rest, argv: [...before, name, ...argv.slice(1)] };
}

/** `prlimit` cannot set `argv[0]`. `-p`: bash reads no startup file, whatever the environment says. */
function renamed(arg0: string): string[] {
  const bash = trustedProgram('bash');
  if (bash !== null) return [bash, '-p', '-c', 'exec -a "$0" -- "$@"', arg0];
  throw new ExecError('limitsUnavailable', 'Limits together with `arg0` need bash, so nothing was run.', {
    data: { hint: 'Install bash, or start without `arg0`.' },
  });
}
