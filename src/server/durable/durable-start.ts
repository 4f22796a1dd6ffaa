import type { ProcessRecord } from './records.js';

/** A process that is about to be started. */
export interface DurableStart extends Omit<ProcessRecord, 'startedAtMs' | 'deadlineMs' | 'root'> {
  readonly timeoutMs: number | undefined;
  readonly cwd: string;
  readonly startedBy: string;
}

/**
 * What the journal says of a process before it exists. Listed field by field: a start has more, such as the environment, which
 * must not be recorded. `nowMs`: by the clock of the journal.
 */
export function recordOf(
  start: DurableStart,
  { startedAtMs, nowMs }: { readonly startedAtMs: number; readonly nowMs: number },
): Omit<ProcessRecord, 'root'> {
  const { processId, owner, starter, spoolOwner, argv, cwd, startedBy, terminal, timeoutMs } = start;
  const { keep, spills, reportsUsage, confined } = start;
  return {
    processId,
    owner,
    ...(starter === undefined ? {} : { starter }),
    spoolOwner,
    argv,
    cwd,
    startedBy,
    terminal,
    startedAtMs,
    deadlineMs: timeoutMs === undefined ? null : nowMs + timeoutMs,
    keep,
    spills,
    reportsUsage,
    ...(confined ? { confined } : {}),
  };
}
