import type { ExecProcess, SignalName } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';

/** Signals people and supervisors send to end or wake a program. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Two Ctrl-C within this time mean: end it, whatever it says. */
const SECOND_INTERRUPT_MS = 1_000;

/** Passes signals we get on to the process group of a process, until disposed of. */
export function forwardSignals(child: ExecProcess): Disposable {
  let interruptedAt = Number.NEGATIVE_INFINITY;
  const pass = (signal: SignalName): void => {
    const now = performance.now();
    const insisted = signal === 'SIGINT' && now - interruptedAt < SECOND_INTERRUPT_MS;
    if (signal === 'SIGINT') interruptedAt = now;
    const sent = insisted
      ? child.terminate()
      : child.signal(signal).catch((error: unknown) => instead(child, error));
    sent.catch(() => undefined);
  };
  for (const signal of FORWARDED) process.on(signal, pass);
  return {
    [Symbol.dispose]() {
      for (const signal of FORWARDED) process.removeListener(signal, pass);
    },
  };
}

/** Servers of others know SIGINT alone. All the other signals are there to end something. */
async function instead(child: ExecProcess, error: unknown): Promise<void> {
  if (isExecError(error, 'unsupported')) await child.terminate();
}
