import type { JobEnd, JobState, RetryOn, RunningState } from './job-records.js';
import { isStill, type JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';

/** Where a job stands after one of its attempts: at its end, or queued again if that is allowed. */
export function afterAttempt(
  running: RunningState,
  how:
    | { readonly outcome: 'contactLost' }
    | { readonly outcome: 'ended'; end: JobEnd['end']; retryOn: RetryOn },
): JobState {
  const { attempt, retriesLeft, machine } = running;
  const failed = how.outcome === 'ended' && how.retryOn === 'failure' && !isSuccess(how.end);
  const isRetried = !running.cancel && retriesLeft > 0 && (how.outcome === 'contactLost' || failed);
  if (isRetried)
    return { state: 'queued', attempt: attempt + 1, retriesLeft: retriesLeft - 1, last: machine };
  const outcome = running.cancel ? 'cancelled' : how.outcome;
  return { state: 'ended', attempt, retriesLeft, outcome, machine, endedAt: Date.now() };
}

function isSuccess(end: JobEnd['end']): boolean {
  return end.kind === 'exited' && end.exitCode === 0;
}

/** An attempt, and the number of the message that says so. */
export interface KnownAttempt {
  readonly running: RunningState;
  readonly seq: number;
}

/**
 * Writes where a job stands after an attempt, unless somebody else has: exactly one result counts. Its client may have asked
 * for its end meanwhile. Resolves to false if the attempt was given up by others.
 */
export async function settle(
  store: JobStore,
  key: JobKey,
  known: KnownAttempt,
  next: (running: RunningState) => JobState,
): Promise<boolean> {
  let { running, seq } = known;
  for (;;) {
    if ((await store.writeState(key, next(running), seq)) !== null) return true;
    const later = await store.stateAfter(key, seq);
    if (!isStill(later.record, running)) return false;
    running = later.record;
    seq = later.seq;
  }
}

/** Gives an attempt up whose lease is broken: its machine may have told how it ended before it was lost. */
export async function settleLost(store: JobStore, key: JobKey, known: KnownAttempt): Promise<void> {
  const told = await store.end(key, known.running.machine, known.running.attempt);
  // Whether a failure is repeated is for the machine to decide; it was about to.
  await settle(store, key, known, (now) =>
    told
      ? afterAttempt(now, { outcome: 'ended', end: told.end, retryOn: 'lost' })
      : afterAttempt(now, { outcome: 'contactLost' }),
  );
}
