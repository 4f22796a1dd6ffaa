import type { EnvPolicy, Sandbox, SandboxType } from '../protocol/index.js';

export type OutputStream = 'stdout' | 'stderr' | 'pty';

/** `SIGINT`, `SIGTERM`, … by POSIX name. */
export type SignalName = `SIG${string}`;

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** What to run. Everything but `argv` has a default. */
export interface ProcessSpec {
  /** Program and arguments. Never a shell string. */
  readonly argv: readonly string[];
  /** Name of the process within its session; a fresh one is made up when absent. */
  readonly processId?: string;
  /** Absolute path on that machine, or a `file:` URI. Default: where the environment works. */
  readonly cwd?: string;
  /** Variables on top of what `envPolicy` lets through. `null`: the child does not see that one at all. */
  readonly env?: Readonly<Record<string, string | null>>;
  /** Which of the machine's own variables the child sees. Default: all. `null`: none, `env` is complete. */
  readonly envPolicy?: EnvPolicy | null;
  /** What the program sees as its own name; which program runs is decided by `argv[0]` alone. */
  readonly arg0?: string;
  /** Run on a terminal. Default: pipes. */
  readonly tty?: boolean;
  /** Size of the terminal. Default: 24 rows, 80 columns. */
  readonly size?: TerminalSize;
  /** Keep stdin open for `write`. Default: false, stdin is empty. A terminal always accepts input. */
  readonly pipeStdin?: boolean;
  /** Kill the whole tree after this time; the end is then `timedOut`. */
  readonly timeoutMs?: number;
  /** What the process may touch. Absent or null: everything. */
  readonly sandbox?: Sandbox | null;
}

/** One entry of the process log. Numbers start at 1 and have no holes except where a gap says so. */
export type ProcessEvent =
  | {
      readonly type: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  /** Output between `afterSeq` and `beforeSeq` is gone; the reader was away too long. */
  | {
      readonly type: 'gap';
      readonly afterSeq: number;
      readonly beforeSeq: number;
      readonly lostBytes: number;
    }
  | ExitedEvent
  | { readonly type: 'closed'; readonly seq: number };

/** The direct child ended. Output of what it left behind may still follow. */
export interface ExitedEvent {
  readonly type: 'exited';
  readonly seq: number;
  /** 0-255 as the program said; 128 + n when signal n killed it. */
  readonly exitCode: number;
  /** The signal that killed it, where the machine tells; null for an ordinary exit. */
  readonly signal: SignalName | null;
  readonly timedOut: boolean;
  readonly sandboxDenied: boolean;
}

/** How a process ended. Exactly one of these, and contact lost is never made to look like an exit. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly exitCode: number; readonly signal: SignalName }
  | { readonly kind: 'timedOut'; readonly exitCode: number }
  | { readonly kind: 'contactLost'; readonly error: Error };

export interface ReadRequest {
  /** Only what comes after this number. Default 0: from the beginning. */
  readonly afterSeq?: number;
  /** Stop after this many bytes, between chunks; one chunk is always returned. Default: no limit. */
  readonly maxBytes?: number;
  /** Wait this long for something new. Default 0. */
  readonly waitMs?: number;
}

export interface ReadResult {
  readonly chunks: readonly {
    readonly seq: number;
    readonly stream: OutputStream;
    readonly bytes: Uint8Array;
    /** Bytes that were lost directly before this chunk. 0 almost always. */
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

/** What a program is doing with its terminal at this moment. */
export interface TerminalState {
  /**
   * The foreground job sleeps until somebody types. One that also waits for a socket does not count, nor one with a time
   * limit, unless it takes single keys and means to sleep for more than 3 seconds: an editor waits, top refreshes.
   */
  readonly waitsForInput: boolean;
  /** False while a line typed now would not be shown, as at a password prompt. */
  readonly echo: boolean;
}

/**
 * A process on some machine.
 *
 * Output waits for its reader, as in a pipe: once a window of unread output is full the program blocks in
 * its write. Calling `wait()` while nothing reads lifts that: output beyond the retained tail is then let go,
 * and a later reader is told how much.
 */
export interface ExecProcess extends AsyncDisposable {
  readonly processId: string;
  readonly tty: boolean;
  /** What confines it, as the machine reported. */
  readonly sandboxType: SandboxType;

  /** Everything from `afterSeq` (default 0) to `closed`, in order. Each call is a reader of its own. */
  events(options?: { afterSeq?: number }): AsyncIterableIterator<ProcessEvent>;
  /** One look at the log; never consumes. */
  read(request?: ReadRequest): Promise<ReadResult>;
  /** Stdout, or everything a terminal shows. Each access opens a reader of its own. */
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** All of stdout (or the terminal) as text, once it has closed. */
  text(): Promise<string>;
  /** Stdout (or the terminal) line by line, without line ends. */
  lines(): AsyncIterableIterator<string>;

  write(data: Uint8Array | string): Promise<WriteStatus>;
  closeStdin(): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  /** Looks whether the program waits for its terminal. Null, or absent altogether, where that cannot be told. */
  inspect?(): Promise<TerminalState | null>;
  /** Sends a signal to the process group. */
  signal(signal: SignalName): Promise<void>;
  /** Kills the whole tree: at once, or politely first when a grace period is given. False if it was over. */
  terminate(options?: { graceMs?: number }): Promise<boolean>;
  /** How it ended, once it has exited and its output is closed. Never rejects. */
  wait(): Promise<ProcessEnd>;
}

/** A row of the process list. */
export interface ProcessSummary {
  readonly processId: string;
  readonly pid: number | null;
  readonly argv: string[];
  readonly tty: boolean;
  readonly startedAtMs: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
}
