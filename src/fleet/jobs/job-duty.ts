import { randomBytes } from 'node:crypto';
import type { JobBoard, PostedJob } from './job-board.js';
import type { JobOrder } from './job-records.js';
import type { JobStore } from './job-store.js';
import { LeaseWatch } from './lease-watch.js';

/** Looks in the time of a lease. */
const LOOKS = 6;

/**
 * Looks after all jobs of the fleet, on one machine at a time: gives up those whose machines are gone, and those that were not
 * begun before their deadline. Two that do it at once do no harm.
 */
export class JobDuty {
  readonly #store: JobStore;
  readonly #board: JobBoard;
  readonly #leaseMs: number;
  readonly #watch: LeaseWatch;
  readonly #me = randomBytes(8).toString('hex');
  #holder: { seq: number; since: number; isOurs: boolean } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(store: JobStore, board: JobBoard, leaseMs: number) {
    this.#store = store;
    this.#board = board;
    this.#leaseMs = leaseMs;
    this.#watch = new LeaseWatch(store);
  }

  begin(): void {
    this.#timer = setInterval(() => this.#look(), this.#leaseMs / LOOKS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  #look(): void {
    // What fails now is tried again with the next look.
    this.#looking ??= this.#inspect()
      .catch(() => undefined)
      .finally(() => (this.#looking = undefined));
  }

  async #inspect(): Promise<void> {
    if (!(await this.#isOnDuty())) return;
    const running = this.#board.running();
    this.#watch.keepOnly(running.map(({ key }) => key));
    for (const { key, state, step } of running)
      if (state.state === 'running') await this.#watch.check(key, { running: state, step });
    for (const job of this.#board.queued())
      if (isExpired(job, this.#store.now())) await expire(this.#store, job);
  }

  /** The client on duty renews it. If that stops for the time of a lease, another one takes over. */
  async #isOnDuty(): Promise<boolean> {
    const stored = await this.#store.jobs.get(this.#store.subjects.duty);
    const seq = stored?.seq ?? 0;
    const now = performance.now();
    const before = this.#holder;
    // The node that is asked may be behind.
    const isOurs = before?.isOurs === true && seq <= before.seq;
    if (!isOurs && before?.seq !== seq) this.#holder = { seq, since: now, isOurs: false };
    const isFree = seq === 0 || (before?.seq === seq && now - before.since >= this.#leaseMs);
    if (!isOurs && !isFree) return false;
    const content = JSON.stringify({ by: this.#me });
    const after = isOurs ? before.seq : seq;
    // If several find the duty vacant, any of them may be first.
    const options = after === 0 ? {} : { after };
    const taken = await this.#store.jobs.put(this.#store.subjects.duty, content, options);
    if (taken === null) this.#holder = undefined;
    if (taken === null) return false;
    this.#holder = { seq: taken, since: now, isOurs: true };
    return true;
  }
}

/** `now`: by the clock of NATS. */
export function isExpired(
  { order, state }: Pick<PostedJob, 'order' | 'state'>,
  now: number | undefined,
): boolean {
  return state.state === 'queued' && isPast(order, now);
}

/** Whether the deadline of a job has passed. Before we know the time, nothing has. */
export function isPast({ deadlineAt }: Pick<JobOrder, 'deadlineAt'>, now: number | undefined): boolean {
  return deadlineAt !== undefined && now !== undefined && now > deadlineAt;
}

/** Ends a job that was not begun in time. */
export async function expire(
  store: JobStore,
  { key, state, step }: Pick<PostedJob, 'key' | 'state' | 'step'>,
): Promise<void> {
  const { attempt, retriesLeft } = state;
  await store.proposeStep(
    key,
    { state: 'ended', attempt, retriesLeft, outcome: 'expired', endedAt: Date.now() },
    step + 1,
  );
}
