import type { ExecProcess, ExitedEvent, OutputStream, QueuedInput, TerminalSize } from '../contract/index.js';
import { ExecError } from '../protocol/index.js';
import { CappedOutput } from './capped-output.js';
import type { CapturedRoom } from './captured-room.js';
import { RunInput } from './run-input.js';
import { PausableTimer } from './pausable-timer.js';
import { after } from '../protocol/max-timer.js';

/** How long to wait for output that something holds open after the program has ended, as in Codex. */
const DRAIN_MS = 2_000;
/** The exit code shells report for a timeout. */
const TIMEOUT_EXIT_CODE = 124;
const KILLED_EXIT_CODE = 137;
export type RunStream = 'stdout' | 'stderr';

/** Where streamed output goes. */
export interface RunOutlet {
  send(stream: RunStream, bytes: Uint8Array, capReached: boolean): void;
  /** Undefined while there is room; otherwise resolves when there is room again. */
  room(): Promise<void> | undefined;
}

export interface RunOptions {
  readonly process: ExecProcess;
  /** Whether stdin can be written to. */
  readonly acceptsInput: boolean;
  /** What all programs of the connection have not read. */
  readonly queued: QueuedInput;
  /** What all programs of the connection have captured. */
  readonly captured: CapturedRoom;
  /** Null: output is collected until the end. */
  readonly outlet: RunOutlet | null;
  /** Per stream. Null: no cap. */
  readonly capBytes: number | null;
  /** Null: no limit. */
  readonly timeoutMs: number | null;
  /** The protocol's error messages. */
  readonly wording: { readonly notRunning: string; readonly noStdin: string };
}

export interface RunEnd {
  readonly exitCode: number;
  /** True if it was killed because the changes it held took up too much room. */
  readonly changesFull: boolean;
  /** The set that its changes are held in, if they are. */
  readonly changesId: string | undefined;
  readonly drainTimedOut: boolean;
  readonly stdout: CappedOutput;
  readonly stderr: CappedOutput;
}

/** A program started by a client: collects or streams its output, enforces its limits, reports its end once. */
export class Run {
  /** Rejects with `environmentUnavailable` when contact with the machine is lost. */
  readonly ended: Promise<RunEnd>;
  readonly #options: RunOptions;
  readonly #process: ExecProcess;
  readonly #input: RunInput;
  readonly #output: Readonly<Record<RunStream, CappedOutput>>;
  readonly #drain = new PausableTimer(DRAIN_MS, () => this.#finish({ drainTimedOut: true }));
  #stopTimeout: (() => void) | undefined;
  #exit: ExitedEvent | undefined;
  #outOfTime = false;
  #terminating = false;
  #stdinClosed = false;
  #finished = false;
  #settle: { resolve(end: RunEnd): void; reject(error: Error): void } | undefined;

  constructor(options: RunOptions) {
    const { capBytes, captured, outlet, timeoutMs } = options;
    this.#options = options;
    this.#process = options.process;
    const room = outlet === null ? captured : null;
    this.#output = {
      stdout: new CappedOutput({ capBytes, room }),
      stderr: new CappedOutput({ capBytes, room }),
    };
    this.ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#input = new RunInput(options.process, { queued: options.queued, gone: this.ended });
    if (timeoutMs !== null) this.#stopTimeout = after(timeoutMs, () => this.#timedOut());
    // The answer to the start is sent in this turn; nothing about the program may come before it.
    setImmediate(() => void this.#consume());
  }

  /** The set that its changes are held in, if they are. */
  get changesId(): string | undefined {
    return this.#process.changesId;
  }

  /** Queues bytes, closes stdin, or both, in the order of calls. Resolves when there is room again. */
  async write(bytes: Uint8Array | undefined, closes: boolean): Promise<void> {
    this.#assertRunning();
    const { acceptsInput, wording } = this.#options;
    if (!acceptsInput) throw new ExecError('stdinNotStreamed', wording.noStdin);
    const hasData = bytes !== undefined && bytes.length > 0;
    if (hasData && this.#stdinClosed) throw stdinClosed();
    const closing = closes && !this.#stdinClosed;
    this.#stdinClosed ||= closes;
    try {
      // No more input is accepted from here on, so stdin can be closed once these bytes are queued.
      if (hasData && (await this.#input.write(bytes)) === 'stdinClosed') throw stdinClosed();
      if (closing) await this.#process.closeStdin();
    } catch (error) {
      // Rejected bytes can be sent again, followed by the end.
      if (closing) this.#stdinClosed = false;
      throw error;
    }
  }

  async resize(size: TerminalSize): Promise<void> {
    this.#assertRunning();
    if (!this.#process.tty) {
      throw new ExecError('notATerminal', 'failed to resize PTY: process is not attached to a PTY');
    }
    await this.#process.resize(size);
  }

  /** Kills the whole tree immediately. */
  async terminate(): Promise<void> {
    this.#assertRunning();
    this.#terminating = true;
    try {
      await this.#process.terminate();
    } catch (error) {
      // It is unknown whether the request arrived: allow another attempt.
      this.#terminating = false;
      throw error;
    }
  }

  #assertRunning(): void {
    if (!this.#exit && !this.#terminating && !this.#finished) return;
    throw new ExecError('processExited', this.#options.wording.notRunning);
  }

  #timedOut(): void {
    this.#outOfTime = true;
    // If the machine is unreachable, the reader reports it.
    this.#process.terminate().catch(() => undefined);
  }

  /** Reads to the end even if the bytes are dropped: a program without a reader would block. */
  async #consume(): Promise<void> {
    try {
      for await (const event of this.#process.events()) {
        if (event.type === 'output') await this.#took(event.stream, event.bytes);
        else if (event.type === 'exited') this.#exited(event);
        else if (event.type === 'gap') throw new ExecError('contactLost', 'Output was lost on its way here.');
      }
      this.#finish({ drainTimedOut: false });
      await this.#process[Symbol.asyncDispose]();
    } catch (cause) {
      this.#lost(cause);
    }
  }

  #took(from: OutputStream, bytes: Uint8Array): Promise<void> | undefined {
    if (this.#finished) return undefined;
    const stream = from === 'stderr' ? 'stderr' : 'stdout';
    const passed = this.#output[stream].take(bytes);
    const { outlet } = this.#options;
    if (!passed || !outlet) return undefined;
    outlet.send(stream, passed.bytes, passed.capReached);
    return this.#roomIn(outlet);
  }

  /** Time spent waiting for the client does not count as draining. */
  #roomIn(outlet: RunOutlet): Promise<void> | undefined {
    const room = outlet.room();
    if (!room) return undefined;
    this.#drain.pause();
    return room.then(() => {
      if (this.#exit) this.#drain.run();
    });
  }

  #exited(event: ExitedEvent): void {
    this.#exit = event;
    this.#stopTimeout?.();
    this.#drain.run();
  }

  #finish({ drainTimedOut }: { drainTimedOut: boolean }): void {
    const exit = this.#exit;
    if (!exit) return this.#lost(new ExecError('internalError', 'The output ended without an exit.'));
    this.#over();
    const { stdout, stderr } = this.#output;
    const { changesId } = this.#process;
    const changesFull = exit.changesFull ?? false;
    const exitCode = this.#exitCode(exit);
    this.#settle?.resolve({ exitCode, changesFull, changesId, drainTimedOut, stdout, stderr });
  }

  /** A program that ends by itself just as it times out keeps its own exit code. */
  #exitCode(exit: ExitedEvent): number {
    const killed = exit.signal === 'SIGKILL' || exit.exitCode === KILLED_EXIT_CODE;
    return this.#outOfTime && !this.#terminating && killed ? TIMEOUT_EXIT_CODE : exit.exitCode;
  }

  #lost(cause: unknown): void {
    if (this.#finished) return;
    this.#over();
    // It can no longer be observed or stopped; if it is still running, end it.
    this.#process.terminate().catch(() => undefined);
    for (const output of Object.values(this.#output)) output.release();
    const message = 'Contact with the environment was lost; what became of the process is unknown.';
    this.#settle?.reject(new ExecError('environmentUnavailable', message, { cause }));
  }

  #over(): void {
    this.#finished = true;
    this.#stopTimeout?.();
    this.#drain.cancel();
  }
}

function stdinClosed(): ExecError {
  return new ExecError('stdinClosed', 'stdin is already closed');
}
