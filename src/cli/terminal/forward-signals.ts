import type { ExecProcess, SignalName } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';

/** Signals people and supervisors send to end or wake a program. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Two Ctrl-C within this time mean: end it, whatever it says. */
const SECOND_INTERRUPT_MS = 1_000;

/**
 * Passes signals we get on to the process group of a process. Once its end is known they mean: no goodbyes, leave with
 * that end. It listens until the program exits: a signal nobody listens to would make up another end.
 */
export class ForwardedSignals {
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #exitCode: number | undefined;

  passTo(child: ExecProcess): void {
    for (const signal of FORWARDED) process.on(signal, () => this.#arrived(signal, child));
  }

  /** Returns the exit code as it is, for whoever wants to leave politely. */
  leaveWith(exitCode: number): number {
    this.#exitCode = exitCode;
    return exitCode;
  }

  #arrived(signal: SignalName, child: ExecProcess): void {
    if (this.#exitCode !== undefined) process.exit(this.#exitCode);
    const now = performance.now();
    const insisted = signal === 'SIGINT' && now - this.#interruptedAt < SECOND_INTERRUPT_MS;
    if (signal === 'SIGINT') this.#interruptedAt = now;
    const sent = insisted
      ? child.terminate()
      : child.signal(signal).catch((error: unknown) => instead(child, error));
    sent.catch(() => undefined);
  }
}

/** Servers of others know SIGINT alone. All the other signals are there to end something. */
async function instead(child: ExecProcess, error: unknown): Promise<void> {
  if (isExecError(error, 'unsupported')) await child.terminate();
}
