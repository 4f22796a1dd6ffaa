import type { OutputStream, ProcessEnd } from '../../contract/index.js';
import { processIdOf } from './job-attempt.js';
import type { JobEnd, JobOrder, JobState } from './job-records.js';
import type { JobKey } from './job-subjects.js';

/** What to run, and where. */
export interface JobRequest {
  /** Which machines may run it, such as `pool=ci,gpu`. */
  readonly on: string;
  /** Program and arguments. Every machine of the fleet can read them while the job is known: put no secrets here. */
  readonly argv: readonly string[];
  readonly cwd?: string | undefined;
  /** Variables added to those of the machine. `null` removes one. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** For people. */
  readonly name?: string | undefined;
  /** How often it may be run again. Default 0. */
  readonly retries?: number | undefined;
  /** After what: only if its machine was lost (default), or also if the program failed. */
  readonly retryOn?: 'lost' | 'failure' | undefined;
  /** Higher ones are taken first. Default 0. */
  readonly priority?: number | undefined;
  /** It must have ended this long after it was submitted: it is not begun later, and killed if it runs. */
  readonly deadlineMs?: number | undefined;
  /** Not more than `count` of all jobs that name this limit run at once. */
  readonly limit?: { readonly name: string; readonly count: number } | undefined;
}

/** The one result of a job. */
export type JobResult =
  | Exclude<ProcessEnd, { kind: 'contactLost' }>
  /** Its machine was lost, or left the fleet. How far it came is unknown. */
  | { readonly kind: 'contactLost' }
  | { readonly kind: 'cancelled' }
  /** It was not begun before its deadline. */
  | { readonly kind: 'expired' }
  /** The machine could not start it. */
  | { readonly kind: 'failed'; readonly message: string };

/** A job, and where it stands. Its times are by the clock of NATS: see `jobs.now()`. */
export interface Job {
  readonly id: string;
  /** The client that submitted it. */
  readonly client: string;
  readonly name?: string | undefined;
  /** Which machines may run it. */
  readonly on: string;
  readonly priority: number;
  readonly submittedAt: number;
  readonly deadlineAt?: number | undefined;
  readonly limit?: { readonly name: string; readonly count: number } | undefined;
  readonly state: 'queued' | 'running' | 'ended';
  /** Counted from 1. */
  readonly attempt: number;
  readonly retriesLeft: number;
  /** Where it runs, or ran last. */
  readonly machine?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** The kept process on that machine, which has all of its output. */
  readonly processId?: string | undefined;
  /** True while it runs although its client wants it to end. */
  readonly isEnding?: boolean | undefined;
  readonly result?: JobResult | undefined;
  /** Bytes it has printed, once it has ended. */
  readonly outputBytes?: number | undefined;
}

/** A piece of what a job has printed, or how much is missing here. */
export type JobOutput =
  | { readonly type: 'output'; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | { readonly type: 'gap'; readonly lostBytes: number };

export function jobOf(key: JobKey, order: JobOrder, state: JobState, end?: JobEnd): Job {
  const { name, selector, priority, submittedAt, deadlineAt, limit } = order;
  const machine = state.state === 'queued' ? undefined : state.machine;
  return {
    ...key,
    ...(name === undefined ? {} : { name }),
    on: selector,
    priority,
    submittedAt,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(limit ? { limit } : {}),
    state: state.state,
    attempt: state.attempt,
    retriesLeft: state.retriesLeft,
    ...(machine === undefined ? {} : { machine, processId: processIdOf(key, state.attempt) }),
    ...(state.state === 'running' ? { startedAt: state.startedAt, isEnding: state.cancel === true } : {}),
    ...(state.state === 'ended' ? { endedAt: state.endedAt, result: resultOf(state, end) } : {}),
    ...(end ? { outputBytes: end.outputBytes } : {}),
  };
}

/** A state that says "ended" without a word of the machine itself proves nothing. */
function resultOf({ outcome }: Extract<JobState, { state: 'ended' }>, end: JobEnd | undefined): JobResult {
  if (outcome !== 'ended') return { kind: outcome };
  if (!end) return { kind: 'contactLost' };
  return end.end as JobResult;
}
