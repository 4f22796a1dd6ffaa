import type { SandboxType } from '../protocol/index.js';
import type { HistoryEntry, HistoryOptions } from './history.js';
import type { OutputStream, ProcessEnd, ProcessEvent, SignalName, TerminalSize } from './process-event.js';
import type { LinesPage, LinesRequest, OutputMatches, OutputSearch } from './process-lines.js';
import type { ProcessKeyboard, TerminalScreen } from './viewers.js';

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
  readonly sandboxType: SandboxType;
  /** The set that its changes are held in. Absent if they are not. */
  readonly changesId?: string | undefined;

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
