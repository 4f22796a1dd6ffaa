import type { HistoryEntry, HistoryOptions } from './history.js';
import type { LinesPage, LinesRequest, OutputMatches, OutputSearch } from './process-lines.js';
import type { ProcessKeyboard, TerminalScreen } from './viewers.js';
import type { EnvPolicy, Lease, NetworkDenial, Sandbox, SandboxType } from '../protocol/index.js';

export type OutputStream = 'stdout' | 'stderr' | 'pty';

/** `SIGINT`, `SIGTERM`, … by POSIX name. */
export type SignalName = `SIG${string}`;

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

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

/** An entry of the process log. Numbers start at 1 and are contiguous except where a gap is reported. */
export type ProcessEvent =
  | {
      readonly type: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  /** Output between `afterSeq` and `beforeSeq` is gone because the reader was away too long. */
  | {
      readonly type: 'gap';
      readonly afterSeq: number;
      readonly beforeSeq: number;
      readonly lostBytes: number;
    }
  | ExitedEvent
  | { readonly type: 'closed'; readonly seq: number };

/** The direct child exited. Output from processes it left behind may still follow. */
export interface ExitedEvent {
  readonly type: 'exited';
  readonly seq: number;
  /** 0-255 as the program returned it; 128 + n if signal n killed it. */
  readonly exitCode: number;
  /** The signal that killed it, if the machine reports it; null for a normal exit. */
  readonly signal: SignalName | null;
  readonly timedOut: boolean;
  readonly sandboxDenied: boolean;
  /** The hosts that the rules of its network kept it from; absent if there were none. */
  readonly networkDenied?: readonly NetworkDenial[];
  /** With `reportUsage`, if the machine reports it. */
  readonly usage?: ProcessUsage;
}

/** What a process has used, with all descendants it has waited for. */
export interface ResourceUsage {
  /** CPU time in its own code. */
  readonly userMs: number;
  /** CPU time in the kernel. */
  readonly systemMs: number;
  /** The most memory one of its processes had at a time. */
  readonly peakMemoryBytes: number;
  /** True if it had no more than the server has, which is all the kernel tells then. */
  readonly peakMemoryIsUpperBound?: boolean | undefined;
}

/** What a process cost. */
export interface ProcessUsage extends ResourceUsage {
  /** Output up to its exit. */
  readonly outputBytes: number;
}

/** How a process ended: exactly one of these. Lost contact is never presented as an exit. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly exitCode: number; readonly signal: SignalName }
  | { readonly kind: 'timedOut'; readonly exitCode: number }
  | { readonly kind: 'contactLost'; readonly error: Error };

export interface ReadRequest {
  /** Only entries after this number. Default 0: from the beginning. */
  readonly afterSeq?: number;
  /** Stop after this many bytes, at a chunk boundary. At least one chunk is returned. Default: no limit. */
  readonly maxBytes?: number;
  /** Wait up to this long for something new. Default 0. */
  readonly waitMs?: number;
  /** Only entries from this time on, in milliseconds since 1970; negative: before now. Default: from the beginning. */
  readonly sinceMs?: number;
}

export interface ReadResult {
  readonly chunks: readonly {
    readonly seq: number;
    readonly stream: OutputStream;
    readonly bytes: Uint8Array;
    /** Bytes lost directly before this chunk. Almost always 0. */
    readonly lostBytes: number;
  }[];
  /** Continue with `afterSeq: nextSeq - 1`. */
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  readonly sandboxDenied: boolean;
}

/** `accepted` means queued, in order, behind earlier writes. */
export type WriteStatus = 'accepted' | 'unknownProcess' | 'stdinClosed' | 'starting';

/** What a program is currently doing with its terminal. */
export interface TerminalState {
  /**
   * The foreground job is blocked until someone types. A job that also waits for a socket does not count, nor one that
   * waits with a timeout, unless it reads single keys and would sleep for more than 3 seconds: an editor waits, top
   * refreshes.
   */
  readonly waitsForInput: boolean;
  /** False while typed text would not be shown, as at a password prompt. */
  readonly echo: boolean;
}

/**
 * A process on some machine.
 *
 * Output waits for its reader, as in a pipe: once a window of unread output is full, the program blocks on its write.
 * Calling `wait()` while nothing reads lifts that: output beyond the retained tail is then discarded, and a later
 * reader is told how much.
 */
export interface ExecProcess extends AsyncDisposable {
  readonly processId: string;
  readonly tty: boolean;
  /** How it is sandboxed, as reported by the machine. */
  /** The set that its changes are held in. Absent if they are not. */
  readonly changesId?: string | undefined;
  readonly sandboxType: SandboxType;

  /** Everything from `afterSeq` (default 0) to `closed`, in order. Each call creates an independent reader. */
  events(options?: { afterSeq?: number }): AsyncIterableIterator<ProcessEvent>;
  /** Reads the log once without consuming it. */
  read(request?: ReadRequest): Promise<ReadResult>;
  /**
   * What happened since the start, with times, sizes of the terminal and gaps, also what others have read. Needs
   * `retain: 'disk'` at the start; `notRecorded` otherwise. Reading it never makes the program wait.
   */
  history(options?: HistoryOptions): AsyncIterableIterator<HistoryEntry>;
  /**
   * Finds lines in everything it has printed that is still there, wherever that is. On a server, it is searched there.
   * Throws `invalidParams` if the pattern cannot be used.
   */
  search(request: OutputSearch): Promise<OutputMatches>;
  /** Lines by number, counted from 1, or from the end. */
  readLines(request?: LinesRequest): Promise<LinesPage>;
  /** Stdout, or everything a terminal shows. Each access creates an independent reader. */
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** All of stdout (or the terminal) as text, once it has closed. */
  text(): Promise<string>;
  /** Stdout (or the terminal) line by line, without line ends. */
  lines(): AsyncIterableIterator<string>;

  write(data: Uint8Array | string): Promise<WriteStatus>;
  closeStdin(): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  /**
   * Checks whether the program is waiting for terminal input. Null, or absent altogether, where that cannot be
   * determined.
   */
  inspect?(): Promise<TerminalState | null>;
  /** What its terminal showed when we attached with `screen`, or last refreshed; null if it has no screen. */
  readonly screen?: TerminalScreen | null;
  /** Attaches again with the screen as it is now. Output up to its `afterSeq` is not delivered any more. */
  refresh?(): Promise<TerminalScreen | null>;
  /** Calls `listener` when the terminal gets another size, if attached with `screen`. Returns an unsubscribe function. */
  watchSize?(listener: (size: TerminalSize) => void): () => void;
  /** Who types. Only for processes with a lease. */
  readonly keyboard?: ProcessKeyboard;
  /** Sends a signal to the process group. */
  signal(signal: SignalName): Promise<void>;
  /**
   * Kills the whole process tree, immediately or after a grace period for a clean exit. Returns false if it had already
   * ended.
   */
  terminate(options?: { graceMs?: number }): Promise<boolean>;
  /**
   * Lets go of a process with a lease: it goes on, and this handle hears no more of it. Disposing of such a process
   * does the same. For other processes, `unsupported`: they end with their environment.
   */
  detach(): Promise<void>;
  /** How it ended. Resolves once it has exited and its output is closed. Never rejects. */
  wait(): Promise<ProcessEnd>;
}

/** A row in the process list. */
export interface ProcessSummary {
  readonly processId: string;
  readonly pid: number | null;
  readonly argv: string[];
  readonly tty: boolean;
  readonly startedAtMs: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  /** Present if it may outlive its session. */
  readonly lease?: Lease | undefined;
  /** With `lease`: how many sessions use it. */
  readonly attached?: number | undefined;
  /** If the machine reports it, and the process is ours. */
  readonly details?: ProcessDetails | undefined;
}

/** What else is known about a process of ours. */
export interface ProcessDetails {
  /** Where it was started, as a `file:` URI. */
  readonly cwd?: string | undefined;
  /** How the client introduced itself that started it. */
  readonly clientName: string;
  readonly sandboxType: SandboxType;
  /** All of its output is kept on disk, with times. */
  readonly recorded: boolean;
  /** Null while it runs, or if unknown. */
  readonly endedAtMs: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** What it cost; absent while it runs, or if unknown. */
  readonly usage?: ProcessUsage | undefined;
  /** Its terminal waits until somebody types; null if unknown. */
  readonly waitsForInput: boolean | null;
}
