import type { ProcessSpec, SignalName } from '../process.js';

/** How captured output is handed over: as text, or as the bytes themselves. */
export type OutputEncoding = 'utf8' | 'buffer';

/** What captured output is in an encoding. */
export type OutputOf<Encoding extends OutputEncoding> = Encoding extends 'buffer' ? Uint8Array : string;

/** What a program reads on its stdin. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** What `run` and `lines` have in common. Everything has a default. */
export interface CommandOptions
  extends Pick<ProcessSpec, 'cwd' | 'env' | 'envPolicy' | 'arg0' | 'sandbox' | 'timeoutMs'> {
  /** What the program reads on stdin, which is closed behind it. Default: stdin is empty. */
  readonly input?: CommandInput;
  /** Kills the whole tree when it aborts; the call then fails with `aborted`. */
  readonly signal?: AbortSignal;
}

export interface RunOptions<Encoding extends OutputEncoding = OutputEncoding> extends CommandOptions {
  /** Default `utf8`. */
  readonly encoding?: Encoding;
  /** How much of each stream is kept, from its beginning. The rest is read and counted. Default 16 MiB. */
  readonly maxOutputBytes?: number;
  /** Throw a `CommandFailure` unless the program exits with code 0. Default false: look at the result. */
  readonly throwOnFailure?: boolean;
}

export interface LinesOptions extends CommandOptions {
  /** Longest line that is handed over, in bytes; a longer one ends the command with `lineTooLong`. Default 1 MiB. */
  readonly maxLineBytes?: number;
  /**
   * Throw a `CommandFailure` behind the last line unless the program exits with code 0. Default true: an iteration has
   * no result to look at.
   */
  readonly throwOnFailure?: boolean;
}

/** How a command went. */
export interface RunResult<Encoding extends OutputEncoding = 'utf8'> {
  readonly stdout: OutputOf<Encoding>;
  readonly stderr: OutputOf<Encoding>;
  /** 0-255 as the program said; 128 + n when signal n killed it. */
  readonly exitCode: number;
  /** The signal that killed it, where the machine tells; null for an ordinary exit. */
  readonly signal: SignalName | null;
  /** Whether `timeoutMs` passed and the tree was killed for it. */
  readonly timedOut: boolean;
  /** From the call to the end of all output, measured here. */
  readonly durationMs: number;
  /** Bytes that were read but not kept, because of `maxOutputBytes`. */
  readonly truncatedBytes: { readonly stdout: number; readonly stderr: number };
  /** Bytes of either stream that never arrived: the connection was away for longer than output is kept. */
  readonly lostBytes: number;
}
