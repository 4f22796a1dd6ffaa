import type { SignalName } from '../process-event.js';
import type { ProcessSpec } from '../process-spec.js';

/** How captured output is returned: as text or as bytes. */
export type OutputEncoding = 'utf8' | 'buffer';

/** The type of captured output in an encoding. */
export type OutputOf<Encoding extends OutputEncoding> = Encoding extends 'buffer' ? Uint8Array : string;

/** What a program reads from stdin. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** Options that `run` and `lines` share. All have defaults. */
export interface CommandOptions
  extends Pick<ProcessSpec, 'cwd' | 'env' | 'envPolicy' | 'arg0' | 'sandbox' | 'timeoutMs' | 'limits'> {
  /** What the program reads from stdin, which is closed at the end. Default: stdin is empty. */
  readonly input?: CommandInput;
  /** Kills the whole process tree when aborted; the call then fails with `aborted`. */
  readonly signal?: AbortSignal;
}

export interface RunOptions<Encoding extends OutputEncoding = OutputEncoding> extends CommandOptions {
  /** Default `utf8`. */
  readonly encoding?: Encoding;
  /** How much of each stream is kept, from its beginning. The rest is read and counted. Default 16 MiB. */
  readonly maxOutputBytes?: number;
  /** Throw a `CommandFailure` unless the program exits with code 0. Default false: check the result. */
  readonly throwOnFailure?: boolean;
}

export interface LinesOptions extends CommandOptions {
  /** Longest line in bytes; a longer one ends the command with `lineTooLong`. Default 1 MiB. */
  readonly maxLineBytes?: number;
  /**
   * Throw a `CommandFailure` after the last line unless the program exits with code 0. Default true, because an
   * iteration has no result to check.
   */
  readonly throwOnFailure?: boolean;
}

/** The result of a command. */
export interface RunResult<Encoding extends OutputEncoding = 'utf8'> {
  readonly stdout: OutputOf<Encoding>;
  readonly stderr: OutputOf<Encoding>;
  /** 0-255 as the program returned it; 128 + n if signal n killed it. */
  readonly exitCode: number;
  /** The signal that killed it, if the machine reports it; null for a normal exit. */
  readonly signal: SignalName | null;
  /** Whether the tree was killed because `timeoutMs` passed. */
  readonly timedOut: boolean;
  /** Present if the tree was killed because its held changes reached their size limit. */
  readonly changesFull?: true;
  /** From the call to the end of all output, measured by the caller. */
  readonly durationMs: number;
  /** Bytes that were read but not kept because of `maxOutputBytes`. */
  readonly truncatedBytes: { readonly stdout: number; readonly stderr: number };
  /** Bytes of either stream that never arrived because the connection was down for longer than output is kept. */
  readonly lostBytes: number;
}
