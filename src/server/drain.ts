import { logEnd } from '../contract/index.js';
import type { LocalProcess } from '../host/index.js';

/** Asks processes to end, and makes them end after a while. Resolves when all have. */
export async function drainProcesses(processes: readonly LocalProcess[], graceMs: number): Promise<void> {
  await Promise.all(processes.map((process) => endPolitely(process, graceMs)));
}

async function endPolitely(process: LocalProcess, graceMs: number): Promise<void> {
  await process.terminate({ graceMs });
  // Interactive shells ignore SIGTERM, but end when their terminal goes away.
  if (process.tty && graceMs > 0) await process.signal('SIGHUP');
  await logEnd(process.log);
}
