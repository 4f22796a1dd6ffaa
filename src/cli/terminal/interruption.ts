import { constants } from 'node:os';

/** How long cleanup may take: an unreachable machine would block it for ever. */
const CLEANUP_LIMIT_MS = 3_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work that cleans up when its AbortSignal fires, which Ctrl-C and similar signals trigger. We then exit with the
 * code of a program killed by that signal. A second signal exits immediately.
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  let exitCode: number | undefined;
  const interrupt = (name: (typeof SIGNALS)[number]): void => {
    if (exitCode !== undefined) process.exit(exitCode);
    exitCode = 128 + constants.signals[name];
    interruption.abort();
    setTimeout(() => process.exit(exitCode), CLEANUP_LIMIT_MS).unref();
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
