import type { ServerProcess } from '../../../src/client/index.js';

export interface ProcessState {
  readonly text: string;
  readonly tone: '' | 'good' | 'bad' | 'warn';
}

/** How a process is, in a word or two. */
export function stateOf({ exited, exitCode, details }: ServerProcess): ProcessState {
  if (!exited)
    return details?.waitsForInput
      ? { text: 'waits for input', tone: 'warn' }
      : { text: 'running', tone: 'good' };
  if (details?.timedOut) return { text: 'timed out', tone: 'bad' };
  if (details?.signal) return { text: details.signal, tone: 'bad' };
  return exitCode === 0 ? { text: 'exited 0', tone: '' } : { text: `exited ${exitCode ?? '?'}`, tone: 'bad' };
}
