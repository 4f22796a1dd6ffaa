import { ExecError } from '../../protocol/errors.js';
import type { Environment } from '../environment.js';
import type { ExecProcess } from '../process.js';
import type { ProcessEvent } from '../process-event.js';
import { feedInput } from './feed-input.js';
import type { CommandOptions } from './run-options.js';

/** Where commands run: the part of an environment that `run` and `lines` need. */
export type CommandHost = Pick<Environment, 'start'>;

/** A command with its input being written. Ends early if its caller aborts or its input fails. */
export class RunningCommand implements AsyncDisposable {
  readonly #process: ExecProcess;
  readonly #signal: AbortSignal | undefined;
  /** Why the command was ended early, and when that is done. */
  #failure: { readonly error: unknown; readonly killed: Promise<void>; over: boolean } | undefined;
  #interrupt: ((error: unknown) => void) | undefined;

  private constructor(process: ExecProcess, { signal, input }: CommandOptions) {
    this.#process = process;
    this.#signal = signal;
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (input !== undefined) feedInput(process, input).catch((error: unknown) => this.#endEarly(error));
  }

  static async start(
    host: CommandHost,
    argv: readonly string[],
    options: CommandOptions,
  ): Promise<RunningCommand> {
    const { cwd, env, envPolicy, arg0, sandbox, timeoutMs, limits, input, signal } = options;
    if (signal?.aborted) throw aborted(signal);
    const starting = host.start({
      argv,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(envPolicy === undefined ? {} : { envPolicy }),
      ...(arg0 === undefined ? {} : { arg0 }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(limits === undefined ? {} : { limits }),
      ...(input === undefined ? {} : { pipeStdin: true }),
    });
    return new RunningCommand(await (signal ? unlessAborted(starting, signal) : starting), options);
  }

  /** All events of the process. Throws if the command was ended early or contact is lost. */
  async *events(): AsyncGenerator<ProcessEvent, void> {
    const events = this.#process.events();
    try {
      for (;;) {
        const { done, value } = await this.#unlessEnded(() => events.next());
        if (done) break;
        yield value;
      }
    } finally {
      void events.return?.();
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Kills whatever is still running and releases retained output. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    await (this.#failure ? this.#failure.killed : this.#process[Symbol.asyncDispose]());
  }

  readonly #onAbort = (): void => {
    if (this.#signal) this.#endEarly(aborted(this.#signal));
  };

  /**
   * Kills the tree first. An unreachable machine does not confirm that in time; the tree then ends with its session.
   */
  #endEarly(error: unknown): void {
    if (this.#failure) return;
    const killed = disposeQuietly(this.#process);
    const failure = { error, killed, over: false };
    this.#failure = failure;
    void killed.then(() => {
      failure.over = true;
      this.#interrupt?.(error);
    });
  }

  /** A single slot instead of `Promise.race`, which would retain something for every event of a long command. */
  #unlessEnded<Value>(next: () => Promise<Value>): Promise<Value> {
    const { error, over } = this.#failure ?? {};
    if (over) return Promise.reject(error);
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      next().then(resolve, reject);
    });
  }
}

/** Stops waiting for a start; if the process starts anyway, it is ended immediately. */
async function unlessAborted(starting: Promise<ExecProcess>, signal: AbortSignal): Promise<ExecProcess> {
  return await new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(aborted(signal));
      starting.then(disposeQuietly, () => undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function disposeQuietly(process: ExecProcess): Promise<void> {
  try {
    await process[Symbol.asyncDispose]();
  } catch {
    // Unreachable: it ends with its session.
  }
}

function aborted(signal: AbortSignal): ExecError {
  return new ExecError('aborted', 'The command was aborted.', { cause: signal.reason });
}
