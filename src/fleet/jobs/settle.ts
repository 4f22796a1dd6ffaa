import { setTimeout as pause } from 'node:timers/promises';
import { isExecError } from '../../protocol/errors.js';
import type { JobEnd, JobState, RetryOn, RunningState } from './job-records.js';
import { isStill } from './job-log.js';
import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';

/** After JetStream has not answered for long. */
const INSIST_AGAIN_MS = 500;
/** What a machine reported before it was lost is known to all nodes after a moment. */
const TOLD_PATIENCE_MS = 500;

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

/** An attempt, and the step that says so. */
export interface KnownAttempt {
  readonly running: RunningState;
  readonly step: number;
}

/**
 * Writes the state of a job after an attempt, unless another one has: exactly one result counts. Its client may have cancelled it
 * in the meantime. Resolves to false if the attempt was given up by others.
 */
export async function settle(
  store: JobStore,
  key: JobKey,
  known: KnownAttempt,
  next: (running: RunningState) => JobState,
): Promise<boolean> {
  let { running, step } = known;
  for (;;) {
    const { counts, now } = await store.proposeStep(key, next(running), step + 1);
    if (counts) return true;
    if (!isStill(now.state, running)) return false;
    running = now.state;
    step = now.step;
  }
}

/** Only this machine knows how a program ended: what cannot be stored now is stored as soon as JetStream answers again. */
export async function insist(
  write: () => Promise<unknown>,
  { isOver }: { isOver: () => boolean },
): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isExecError(error, 'notConnected') || isOver()) throw error;
      await pause(INSIST_AGAIN_MS);
    }
  }
}

/** Gives an attempt up whose lease is broken: its machine may have reported how it ended before it was lost. */
export async function settleLost(store: JobStore, key: JobKey, known: KnownAttempt): Promise<void> {
  const told = await store.end(key, known.running, { patienceMs: TOLD_PATIENCE_MS });
  // Whether a failure is repeated is for the machine to decide; it was about to.
  await settle(store, key, known, (now) =>
    told
      ? afterAttempt(now, { outcome: 'ended', end: told.end, retryOn: 'lost' })
      : afterAttempt(now, { outcome: 'contactLost' }),
  );
}
