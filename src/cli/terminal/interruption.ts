import { constants } from 'node:os';

/** How long tidying up may take; a machine out of reach would keep us for ever. */
const TIDY_LIMIT_MS = 3_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does work that tidies up when its signal is aborted, which Ctrl-C and its like do. An interrupted program exits as
 * one that the signal killed; a second signal means now.
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  let exitCode: number | undefined;
  const interrupt = (name: (typeof SIGNALS)[number]): void => {
    if (exitCode !== undefined) process.exit(exitCode);
    exitCode = 128 + constants.signals[name];
    interruption.abort();
    setTimeout(() => process.exit(exitCode), TIDY_LIMIT_MS).unref();
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  try {
    await work(interruption.signal);
  } catch (error) {
    if (exitCode === undefined) throw error;
  } finally {
    for (const name of SIGNALS) process.removeListener(name, interrupt);
  }
  if (exitCode !== undefined) process.exit(exitCode);
}
