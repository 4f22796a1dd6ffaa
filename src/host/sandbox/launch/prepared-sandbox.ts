import type { SandboxPolicy } from '../../../policy/internal.js';
import type { SandboxType } from '../../../protocol/index.js';
import { type Child, type ChildEnd, type ChildSink, type ChildSpec, spawnChild } from '../../spawn/index.js';
import { type Confinement, confine, type NetworkToJoin } from '../bwrap/confine.js';
import type { HeldView } from '../plan/file-view.js';
import type { SandboxSupport } from '../probe/probe.js';
import type { LaunchReport } from './launch-report.js';
import type { FoundSpare } from './spare-sandboxes.js';
import type { SandboxStatus } from './status.js';

/** Where a program will run: a new sandbox, a spare one, or the one it is in already. */
export interface PreparedSandbox {
  readonly sandboxType: SandboxType;
  /** Null without a sandbox. */
  readonly status: SandboxStatus | null;
  /** Where the program was found. */
  readonly program: string;
  /** Set if a waiting shell becomes the program. */
  readonly report: LaunchReport | null;
  spawn(sink: ChildSink): Child;
  /** The program will not be started. */
  discard(): void;
}

/** A program, with all that its sandbox depends on. */
export interface PreparedSpec extends ChildSpec {
  readonly askedTemporary?: string | null | undefined;
  readonly network?: NetworkToJoin | undefined;
  readonly held?: HeldView | undefined;
  /** What the patterns of its policy match. */
  readonly hidden?: readonly string[];
  /** From here on someone else closes the descriptor. */
  readonly handOver?: () => number;
}

/** What one start needs, under this policy. */
export function confinementFor(
  { argv, arg0, cwd, env, terminal, limits, handOver, network, held, hidden, keeping }: PreparedSpec,
  policy: SandboxPolicy,
  support: SandboxSupport,
): Confinement {
  const script = handOver ? { script: handOver() } : {};
  const program = { argv, arg0, cwd, env, terminal: terminal !== null, limits, ...script };
  return confine(program, { policy, support, network, held, hidden, keeping });
}

/** A new sandbox, started together with the program. */
export function fromConfinement(spec: ChildSpec, confinement: Confinement): PreparedSandbox {
  const { argv, arg0, cwd, env, inheritFds, controllingTerminal, sandboxType, status, program } = confinement;
  const child = {
    argv,
    ...(arg0 === undefined ? {} : { arg0 }),
    cwd,
    env,
    inheritFds,
    stdin: spec.stdin,
    terminal: spec.terminal,
    controlsTerminal: controllingTerminal === 'caller',
    keeping: spec.keeping,
    // Inside a sandbox, its launcher sets them: bubblewrap needs more descriptors than a program may get.
    ...(sandboxType === 'none' ? { limits: spec.limits } : {}),
  };
  const discard = (): void => {
    confinement.release();
    status?.over();
  };
  const exited = (sink: ChildSink) => (end: ChildEnd) => {
    status?.over();
    sink.exited(end);
  };
  const spawn = (sink: ChildSink): Child => {
    try {
      const reports = status?.descriptor ?? null;
      if (reports !== null) spec.keeping?.hold({ status: reports });
      return spawnChild(child, { ...sink, exited: exited(sink) });
    } catch (error) {
      discard();
      throw error;
    } finally {
      confinement.release();
    }
  };
  return { sandboxType, status, program, report: null, spawn, discard };
}

/** A spare sandbox, whose waiting shell becomes the program. */
export function fromSpare({ stdin }: ChildSpec, { spare, script, program }: FoundSpare): PreparedSandbox {
  const spawn = (sink: ChildSink): Child => {
    const child = spare.launch(script, sink);
    if (stdin === 'null') child.closeStdin();
    return child;
  };
  const discard = (): void => void spare.discard();
  const { status, report } = spare;
  return { sandboxType: 'linuxSeccomp', status, program, report, spawn, discard };
}

/** The sandbox of a program that another server has started. */
export function alreadyRunning(argv: readonly string[], status: SandboxStatus): PreparedSandbox {
  return {
    sandboxType: 'linuxSeccomp',
    status,
    program: argv[0] ?? '',
    report: null,
    spawn: () => {
      throw new Error('it runs already');
    },
    discard: () => undefined,
  };
}
