import { ExecError } from '../../protocol/errors.js';
import type { Environment } from '../environment.js';
import type { ExecProcess, ProcessEvent } from '../process.js';
import { feedInput } from './feed-input.js';
import type { CommandOptions } from './run-options.js';

/** Where commands run: all that `run` and `lines` need of an environment. */
export type CommandHost = Pick<Environment, 'start'>;

/** A command whose input is being fed, that ends early when its caller gives up or its input fails. */
export class RunningCommand implements AsyncDisposable {
  readonly #process: ExecProcess;
  readonly #signal: AbortSignal | undefined;
  /** Why the command was ended before its time, and when that is done. */
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
    const { cwd, env, envPolicy, arg0, sandbox, timeoutMs, input, signal } = options;
    if (signal?.aborted) throw aborted(signal);
    const starting = host.start({
      argv,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(envPolicy === undefined ? {} : { envPolicy }),
      ...(arg0 === undefined ? {} : { arg0 }),
      ...(sandbox === undefined ? {} : { sandbox }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(input === undefined ? {} : { pipeStdin: true }),
    });
    return new RunningCommand(await (signal ? unlessAborted(starting, signal) : starting), options);
  }

  /** Everything the process says. Throws once the command was ended early, and when contact is lost. */
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

  /** Kills what still runs, and lets go of what is kept of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    await (this.#failure ? this.#failure.killed : this.#process[Symbol.asyncDispose]());
  }

  readonly #onAbort = (): void => {
    if (this.#signal) this.#endEarly(aborted(this.#signal));
  };

  /** The tree is killed first. A machine out of reach does not confirm that in time; then its session's end kills it. */
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

  /** One slot instead of `Promise.race`, which would keep something for every event of a long command. */
  #unlessEnded<Value>(next: () => Promise<Value>): Promise<Value> {
    const { error, over } = this.#failure ?? {};
    if (over) return Promise.reject(error);
    return new Promise((resolve, reject) => {
      this.#interrupt = reject;
      next().then(resolve, reject);
    });
  }
}

/** Gives up waiting for a start; a process that comes all the same is ended at once. */
async function unlessAborted(starting: Promise<ExecProcess>, signal: AbortSignal): Promise<ExecProcess> {
  return await new Promise((resolve, reject) => {
    const giveUp = (): void => {
      reject(aborted(signal));
      starting.then(disposeQuietly, () => undefined);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    starting.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

async function disposeQuietly(process: ExecProcess): Promise<void> {
  try {
    await process[Symbol.asyncDispose]();
  } catch {
    // Out of reach: it ends with its session.
  }
}

function aborted(signal: AbortSignal): ExecError {
  return new ExecError('aborted', 'The command was aborted.', { cause: signal.reason });
}
