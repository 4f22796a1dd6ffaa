import { constants } from 'node:os';
import type { ResourceUsage } from '../../contract/index.js';

/** How the direct child ended: its exit code 0-255, or 128 + n and the name of the signal n that killed it. */
export interface ChildEnd {
  readonly exitCode: number;
  readonly signal: `SIG${string}` | null;
  /** If the system reports it. */
  readonly usage?: ResourceUsage;
}

const SIGNAL_EXIT_BASE = 128;

/** Some numbers have two names; prefer the familiar one. */
const preferred: readonly NodeJS.Signals[] = ['SIGABRT', 'SIGIO', 'SIGCHLD', 'SIGSYS'];

const signalNames = new Map<number, `SIG${string}`>(
  Object.entries(constants.signals).map(([name, number]) => [number, name as `SIG${string}`]),
);
for (const name of preferred) signalNames.set(constants.signals[name], name);

/** Decodes the status word of `waitpid`. Real-time signals have no name of their own: `SIG34`. */
export function decodeWaitStatus(status: number): ChildEnd {
  const signal = status & 0x7f;
  if (signal === 0) return { exitCode: (status >> 8) & 0xff, signal: null };
  return { exitCode: SIGNAL_EXIT_BASE + signal, signal: signalNames.get(signal) ?? `SIG${signal}` };
}

/** The same for what `child_process` reports. */
export function endFromNode(code: number | null, signal: NodeJS.Signals | null): ChildEnd {
  if (signal === null) return { exitCode: code ?? 0, signal: null };
  return { exitCode: SIGNAL_EXIT_BASE + (constants.signals[signal] ?? 0), signal };
}
