import type { Stored } from '../store/index.js';
import { z } from 'zod';

/** An attempt that ended because its machine was lost may be repeated, or also one whose program failed. */
export const RetryOn = z.enum(['lost', 'failure']);
export type RetryOn = z.output<typeof RetryOn>;

/** The last moment that is a date. */
const MAX_TIME_MS = 8.64e15;
const Time = z.number().min(0).max(MAX_TIME_MS);

/** What to run, and how: written once, by the client. */
export const JobOrder = z.object({
  selector: z.string(),
  argv: z.array(z.string()).min(1),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string().nullable()).optional(),
  /** For people. */
  name: z.string().max(128).optional(),
  /** Further attempts, should one be lost. */
  retries: z.number().int().nonnegative(),
  retryOn: RetryOn,
  /** Higher ones first. */
  priority: z.number().int(),
  /** When it must have ended, by the same clock as `submittedAt`. */
  deadlineAt: Time.optional(),
  /** Not more than `count` of the jobs that name this limit run at once. */
  limit: z.object({ name: z.string(), count: z.number().int().positive() }).optional(),
  /** In milliseconds since 1970, by the clock of the client. Only `orderOf` makes it one that others may use. */
  submittedAt: Time,
});
export type JobOrder = z.output<typeof JobOrder>;

/** Why a job has no end that a machine reports. */
export const Outcome = z.enum(['ended', 'contactLost', 'cancelled', 'expired']);

const Common = { attempt: z.number().int().positive(), retriesLeft: z.number().int().nonnegative() };

/** Where a job stands. The attempt counts from 1. */
export const JobState = z.discriminatedUnion('state', [
  /** `last`: the machine of the attempt before. */
  z.object({ ...Common, state: z.literal('queued'), last: z.string().optional() }),
  z.object({
    ...Common,
    state: z.literal('running'),
    machine: z.string(),
    /** Which run of the machine. */
    epoch: z.number(),
    /** Which claim: another one for each. */
    token: z.string(),
    /** Anyone who has seen no renewal of the lease for this long may break it. */
    leaseMs: z.number().positive(),
    startedAt: z.number(),
    /** Its client wants it to end. */
    cancel: z.boolean().optional(),
    /** The number of the message that claimed it, if this is a later one. */
    claim: z.number().optional(),
  }),
  z.object({
    ...Common,
    state: z.literal('ended'),
    outcome: Outcome,
    /** Where it ran last. */
    machine: z.string().optional(),
    endedAt: Time,
  }),
]);
export type JobState = z.output<typeof JobState>;
export type RunningState = Extract<JobState, { state: 'running' }>;

/** Says that the machine is still alive, or that it was given up. */
export const JobLease = z.object({ attempt: z.number(), epoch: z.number(), broken: z.boolean().optional() });

/** How an attempt ended, as its machine saw it. */
export const JobEnd = z.object({
  attempt: z.number(),
  end: z.union([
    z.object({ kind: z.literal('exited'), exitCode: z.number() }),
    z.object({ kind: z.literal('signalled'), exitCode: z.number(), signal: z.string() }),
    z.object({ kind: z.literal('timedOut'), exitCode: z.number() }),
    /** It could not be started. */
    z.object({ kind: z.literal('failed'), message: z.string() }),
  ]),
  /** Everything it has printed. */
  outputBytes: z.number(),
});
export type JobEnd = z.output<typeof JobEnd>;

/** A job that was not touched yet. */
export function firstState({ retries }: Pick<JobOrder, 'retries'>): JobState {
  return { state: 'queued', attempt: 1, retriesLeft: retries };
}

/**
 * The order in a message, with the times by the clock of NATS: it has stamped the message, and the client says how long after that
 * the job must have ended. Its own clock may be wrong.
 */
export function orderOf({ data, timeMs }: Pick<Stored, 'data' | 'timeMs'>): JobOrder | undefined {
  const order = readRecord(JobOrder, data);
  if (order?.deadlineAt === undefined) return order && { ...order, submittedAt: timeMs };
  const deadlineAt = Math.min(MAX_TIME_MS, timeMs + order.deadlineAt - order.submittedAt);
  return { ...order, submittedAt: timeMs, deadlineAt };
}

/** A state with its times by the clock of NATS, which has stamped the message with it: others need not trust the machine's. */
export function stamped(state: JobState, timeMs: number, before: JobState | undefined): JobState {
  if (state.state === 'ended') return { ...state, endedAt: timeMs };
  if (state.state === 'queued') return state;
  const isSame = before?.state === 'running' && before.token === state.token;
  return { ...state, startedAt: isSame ? before.startedAt : timeMs };
}

/** The content of a record, undefined if it is none. */
export function readRecord<Record>(schema: z.ZodType<Record>, data: Uint8Array): Record | undefined {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder().decode(data))).data;
  } catch {
    return undefined;
  }
}
