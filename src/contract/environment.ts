import type { EnvironmentInfo, Sandbox } from '../protocol/index.js';
import type { FileSystem } from './file-system.js';
import type { ExecProcess, ProcessSpec, ProcessSummary } from './process.js';
import type { CommandTag, LinesOptions, OutputEncoding, RunOptions, RunResult } from './run/index.js';

/** A machine to run processes on and touch files of. Nothing above this line can tell which kind it is. */
export interface Environment extends AsyncDisposable {
  readonly id: string;
  info(): Promise<EnvironmentInfo>;
  /** Resolves as soon as the child exists. A failed start rejects and leaves nothing behind. */
  start(spec: ProcessSpec): Promise<ExecProcess>;
  /**
   * Runs a program to its end. A non-zero exit, a signal and a time-out are results; a program that cannot be started,
   * lost contact and an abort are errors.
   */
  run<Encoding extends OutputEncoding = 'utf8'>(
    argv: readonly string[],
    options?: RunOptions<Encoding>,
  ): Promise<RunResult<Encoding>>;
  /**
   * Runs a program and hands over its stdout line by line, without line ends. The program waits while its lines are not
   * taken, and is killed when the iteration ends early.
   */
  lines(argv: readonly string[], options?: LinesOptions): AsyncGenerator<string, void>;
  /** Runs the command a template spells: `` env.$`git log ${branch}` ``. Values are arguments; no shell is involved. */
  readonly $: CommandTag;
  list(): Promise<ProcessSummary[]>;
  readonly files: FileSystem;
  /** The policy for everything that names no other one. Absent: there is none. */
  readonly sandbox?: Sandbox;
  /** True once the machine is out of reach for good: open the environment again. Absent where that cannot be. */
  readonly lost?: boolean;
  /**
   * Calls back with false when the connection is lost and being made again, and with true when it is back. Returns how
   * to stop that. Absent where there is no connection to lose.
   */
  watchConnection?(listener: (connected: boolean) => void): () => void;
  /** Ends everything this environment started. Idempotent. */
  close(): Promise<void>;
}
