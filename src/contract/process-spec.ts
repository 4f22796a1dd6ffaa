import type { EnvPolicy, Lease, ProcessLimits, Sandbox } from '../protocol/index.js';
import type { TerminalSize } from './process-event.js';

/** As a working directory: the user's home directory on that machine, or `/` if it cannot be entered. */
export const HOME = '~';

/** What to run. Everything but `argv` has a default. */
export interface ProcessSpec {
  /** Program and arguments. Never a shell string. */
  readonly argv: readonly string[];
  /** Identifies the process within its session. Generated if absent. */
  readonly processId?: string;
  /**
   * Absolute path on the environment's machine, a `file:` URI, or `~` for the user's home directory there. Default: the
   * environment's working directory.
   */
  readonly cwd?: string;
  /** Variables added to what `envPolicy` lets through. `null` removes a variable from the child's environment. */
  readonly env?: Readonly<Record<string, string | null>>;
  /**
   * Which of the machine's own variables the child inherits. Default: all. `null`: none; `env` is the complete
   * environment.
   */
  readonly envPolicy?: EnvPolicy | null;
  /** The name passed to the program as its own. `argv[0]` alone determines which program runs. */
  readonly arg0?: string;
  /** Report what it cost, in its `exited` event. Default false. */
  readonly reportUsage?: boolean;
  /** Run on a terminal. Default: pipes. */
  readonly tty?: boolean;
  /** Size of the terminal. Default: 24 rows, 80 columns. */
  readonly size?: TerminalSize;
  /** Keep stdin open for `write`. Default false: stdin is empty. A terminal always accepts input. */
  readonly pipeStdin?: boolean;
  /** Kill the whole process tree after this time; the end is then `timedOut`. */
  readonly timeoutMs?: number;
  /** Bounds for each process of its tree. Refused where they cannot be enforced. Default: those of the machine. */
  readonly limits?: ProcessLimits | undefined;
  /** What the process may access. Absent or null: everything. */
  readonly sandbox?: Sandbox | null;
  /**
   * Where its output is kept for late readers: a tail in memory (default), or all of it on disk, up to a bound. On disk
   * it stays after the process has ended.
   */
  readonly retain?: 'memory' | 'disk';
  /**
   * What happens when a reader falls behind: the program waits (default), or its output goes to disk and the reader
   * gets it from there.
   */
  readonly onSlowReader?: 'wait' | 'spool';
  /**
   * How long it may outlive its clients. `session` (default): it ends with the environment that started it. `kept`: it
   * goes on until it is ended. A number: it ends this many milliseconds after the last client attached to it went. The
   * last two need a server that outlives its connections; elsewhere they are refused with `unsupported`.
   */
  readonly lease?: Lease;
}

/** From where, and how, to follow a process that is running already. */
export interface AttachOptions {
  /**
   * The session that owns the process, from `listServer`, if it has no lease. It ends with that session, never waits for
   * us, and its owner may always type. Default: a process with a lease.
   */
  readonly sessionId?: string;
  /** Only what follows this number. Default 0: everything the server has retained. */
  readonly afterSeq?: number;
  /** Only what comes from now on. */
  readonly fromEnd?: boolean;
  /**
   * Whether the program waits while output is not read here. Default true, which has an effect for one client at a time:
   * the first. Whoever it does not wait for may lose output, and is told how much.
   */
  readonly mayPause?: boolean;
  /** Only the last output, as far as the server has it in memory. Chunks are not cut, so it may be some more. */
  readonly tail?: { readonly bytes: number } | { readonly lines: number };
  /**
   * Begin with the screen of the terminal, in `screen` of the process, and go on with what follows. Whoever falls more
   * than a MiB behind gets a gap of unknown size, and may `refresh`.
   */
  readonly screen?: boolean;
  /**
   * Who types, where several clients are attached. `take`: we do, whoever did before. `ifFree`: only if nobody who is
   * connected does. `none`: not yet. `view`: never; everything that would change the process is refused with
   * `viewOnly`. Absent: typing takes the keyboard.
   */
  readonly keyboard?: 'take' | 'ifFree' | 'none' | 'view';
}
