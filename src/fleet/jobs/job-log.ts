import type { Stored } from '../store/index.js';
import { JobState, readRecord, type RunningState, stamped } from './job-records.js';
import { CLIENT, stepOf } from './job-subjects.js';

/** Where a job stands, and by which step it got there. */
export interface Standing {
  /** No attempt: the job was not touched yet. */
  readonly state: JobState | undefined;
  /** Counts the steps of a job from 1; 0: there was none. */
  readonly step: number;
  /** The number of the message with that step. */
  readonly seq: number;
  /** What that message is known by. */
  readonly id: string;
}

export const UNTOUCHED: Standing = { state: undefined, step: 0, seq: 0, id: '' };

/**
 * The state of a job after one more message of its log. Anyone may propose the next step, and no proposal is refused: the first
 * of several in the log counts. All nodes of NATS agree on that order, whatever happens to them. Asking JetStream to refuse the
 * second one is no alternative: nats-server 2.9 accepts two that arrive at the same moment.
 */
export function follow(now: Standing, message: Stored): Standing {
  const { step, author } = stepOf(message.subject);
  const state = readRecord(JobState, message.data);
  if (!state || !Number.isSafeInteger(step) || step <= now.step) return now;
  if (state.state === 'running' && !maySay(author, state, now.state)) return now;
  return { state: stamped(state, message.timeMs, now.state), step, seq: message.seq, id: message.id };
}

/** A machine speaks for itself only; a client may ask for the end of what runs. The NATS server vouches for the author. */
function maySay(author: string, state: RunningState, before: JobState | undefined): boolean {
  return author === state.machine || (author === CLIENT && isStill(before, state));
}

/** Whether a state still says that this attempt runs there. */
export function isStill(
  state: JobState | undefined,
  { machine, epoch, attempt, token }: RunningState,
): state is RunningState {
  return (
    state?.state === 'running' &&
    state.machine === machine &&
    state.epoch === epoch &&
    state.attempt === attempt &&
    state.token === token
  );
}
