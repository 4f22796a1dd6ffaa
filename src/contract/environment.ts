import type { EnvironmentInfo, Sandbox } from '../protocol/index.js';
import type { ChangeSet, ChangeSetInfo, ChangesUpdate } from './changes.js';
import type { FileSystem } from './file-system.js';
import type { Duplex } from 'node:stream';
import type {
  ConnectOptions,
  ForwardOptions,
  ListeningPort,
  PortForward,
  PortsOptions,
  PortWatch,
} from './ports/index.js';
import type { ExecProcess } from './process.js';
import type { ProcessEnd } from './process-event.js';
import type { AttachOptions, ProcessSpec } from './process-spec.js';
import type { ProcessSummary } from './process-summary.js';
import type { CommandTag, LinesOptions, OutputEncoding, RunOptions, RunResult } from './run/index.js';

/** A machine on which to run processes and access files. Code that uses it cannot tell which kind it is. */
export interface Environment extends AsyncDisposable {
  readonly id: string;
  info(): Promise<EnvironmentInfo>;
  /** Resolves as soon as the child exists. A failed start rejects and leaves nothing behind. */
  start(spec: ProcessSpec): Promise<ExecProcess>;
  /**
   * Runs a program to completion. A non-zero exit, a signal and a timeout are results; a program that cannot be
   * started, lost contact and an abort are errors.
   */
  run<Encoding extends OutputEncoding = 'utf8'>(
    argv: readonly string[],
    options?: RunOptions<Encoding>,
  ): Promise<RunResult<Encoding>>;
  /**
   * Runs a program and yields its stdout line by line, without line endings. The program waits while lines are not
   * consumed, and is killed if the iteration ends early.
   */
  lines(argv: readonly string[], options?: LinesOptions): AsyncGenerator<string, void>;
  /** Runs the command in a template: `` env.$`git log ${branch}` ``. Values become arguments; no shell is involved. */
  readonly $: CommandTag;
  list(): Promise<ProcessSummary[]>;
  /** The processes with a lease that belong to us on this machine, whoever started them, including ended ones. */
  kept(): Promise<ProcessSummary[]>;
  /**
   * Follows and controls a process with a lease that was started earlier, here or elsewhere. Rejects with
   * `processNotFound` if we have none with this id.
   */
  attach(processId: string, options?: AttachOptions): Promise<ExecProcess>;
  /** How a process with a lease ended. Resolves at its end, or at once if it has ended. */
  waitFor(processId: string): Promise<ProcessEnd>;
  /** Which programs listen on which TCP ports. */
  ports(options?: PortsOptions): Promise<ListeningPort[]>;
  /** The same, and from then on every port that opens or closes. */
  watchPorts(options?: PortsOptions): Promise<PortWatch>;
  /**
   * Connects to a port: of one of our own processes, in its sandbox if it has one, otherwise of the machine. Rejects with
   * `portRefused` if nobody listens there. The stream goes on after a lost connection, or fails.
   */
  connect(port: number, options?: ConnectOptions): Promise<Duplex>;
  /** Makes a port available here, on loopback, until it is closed. */
  forward(port: number, options?: ForwardOptions): Promise<PortForward>;
  readonly files: FileSystem;
  /**
   * What programs have changed under a policy that holds changes: `sandbox: { …, changes: 'hold', changesId }`. Nothing is
   * asked of the machine until a method is called.
   */
  changes(changesId: string): ChangeSet;
  /** The sets of held changes on this machine that belong to us, oldest first. */
  changeSets(): Promise<readonly ChangeSetInfo[]>;
  /**
   * Calls `listener` when one of these sets may have grown: a program in it has ended, a file operation has changed it, or it
   * takes up more room while programs run. Returns an unsubscribe function.
   */
  watchChanges(listener: (update: ChangesUpdate) => void): () => void;
  /** The policy for everything that does not specify its own. Absent: none. */
  readonly sandbox?: Sandbox;
  /** True once the machine is permanently unreachable: open the environment again. Absent where that cannot happen. */
  readonly lost?: boolean;
  /**
   * Calls `listener` with false when the connection is lost and being restored, and with true once it is back. Returns
   * an unsubscribe function. Absent where there is no connection to lose.
   */
  watchConnection?(listener: (connected: boolean) => void): () => void;
  /** Ends everything this environment started, except what has a lease. Idempotent. */
  close(): Promise<void>;
}
