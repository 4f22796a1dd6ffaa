import type { ExecProcess, SignalName } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';

/** Signals people and supervisors send to end or wake a program. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Those of them that mean us, not the program, where the program outlives us. */
const OUR_END: readonly string[] = ['SIGTERM', 'SIGHUP'];

/** A second Ctrl-C within this time kills the program. */
const SECOND_INTERRUPT_MS = 1_000;

/**
 * Forwards our signals to the group of a process. Once the process has ended, a signal makes us exit at once with its
 * exit code. The handlers stay until we exit: a signal without a handler would replace that exit code.
 */
export class ForwardedSignals {
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #exitCode: number | undefined;

  /** `leave`: what the signals do that tell us to go, to a process that stays. Default: they are forwarded, too. */
  passTo(child: ExecProcess, leave?: () => void): void {
    for (const signal of FORWARDED)
      process.on(signal, () => {
        if (leave && this.#exitCode === undefined && OUR_END.includes(signal)) leave();
        else this.#forward(signal, child);
      });
  }

  /** Sets the exit code for later signals, and returns it. */
  leaveWith(exitCode: number): number {
    this.#exitCode = exitCode;
    return exitCode;
  }

  #forward(signal: SignalName, child: ExecProcess): void {
    if (this.#exitCode !== undefined) process.exit(this.#exitCode);
    const now = performance.now();
    const repeated = signal === 'SIGINT' && now - this.#interruptedAt < SECOND_INTERRUPT_MS;
    if (signal === 'SIGINT') this.#interruptedAt = now;
    const sent = repeated
      ? child.terminate()
      : child.signal(signal).catch((error: unknown) => terminateIfUnsupported(child, error));
    sent.catch(() => undefined);
  }
}

/** Other servers support only SIGINT. All the other signals are meant to end the program. */
async function terminateIfUnsupported(child: ExecProcess, error: unknown): Promise<void> {
  if (isExecError(error, 'unsupported')) await child.terminate();
}
