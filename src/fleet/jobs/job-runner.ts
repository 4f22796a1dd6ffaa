import { randomBytes } from 'node:crypto';
import type { Bus } from '../bus/bus.js';
import type { MachineServer, MemberLog } from '../join-options.js';
import type { Machine } from '../machine.js';
import type { Stored } from '../store/index.js';
import { ClientSessions } from './client-sessions.js';
import { JobAttempt } from './job-attempt.js';
import { JobBoard, type PostedJob } from './job-board.js';
import { isExpired, JobDuty } from './job-duty.js';
import type { RunningState } from './job-records.js';
import { isStill } from './job-log.js';
import { JobStore } from './job-store.js';
import { ANY_MACHINE, type JobKey } from './job-subjects.js';
import { LeaseGuard } from './lease-guard.js';
import { keepMeasuringTime } from './measure-time.js';
import { insist, type KnownAttempt, settle } from './settle.js';

/**
 * A machine that cannot renew a lease ends the program after half of this; others may run it after all of it. NATS takes up to
 * twenty seconds to choose a new leader on a busy machine, and no program should end for that.
 */
export const DEFAULT_JOB_LEASE_MS = 60_000;
/** Machines that learn of a job at the same time do not all reach for it at once. */
const MAX_HESITATION_MS = 15;
/** How long a job that somebody else was faster to take is left alone. */
const LEAVE_ALONE_MS = 1_000;
/** When the jobs of the fleet cannot be followed, as before its streams are created. */
const LOOK_AGAIN_MS = 5_000;
/** After a conflict, one of this many next jobs is chosen by chance. */
const CHOICE = 8;

/** Jobs that were begun here and are remembered: far more than can change before we learn of it. */
const MAX_REMEMBERED = 10_000;

export interface JobRunnerOptions {
  readonly bus: Bus;
  readonly fleet: string;
  readonly server: MachineServer;
  readonly describe: () => Machine;
  /** Jobs at a time. */
  readonly slots: number;
  readonly leaseMs: number;
  readonly log?: MemberLog | undefined;
}

/** `claim`: the number of the message that has claimed it. */
type Claimed = KnownAttempt & { readonly claim: number };

/** Takes jobs from the fleet and runs them on this machine. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #store: JobStore;
  readonly #board: JobBoard;
  readonly #guard: LeaseGuard;
  readonly #duty: JobDuty;
  readonly #over = new AbortController();
  /** Ends later: whether the last results count is read from the logs. */
  readonly #watching = new AbortController();
  /** By client and id. */
  readonly #attempts = new Map<string, { attempt: JobAttempt; running: RunningState; done: Promise<void> }>();
  /** The last claim of each job that was begun here. */
  readonly #begun = new Map<string, string>();
  readonly #sessions: ClientSessions;
  readonly #leaveAlone = new Map<string, number>();
  readonly #onState: (() => void)[] = [];
  #conflicts = 0;
  #caughtUp = 0;
  #pumping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #hesitating: NodeJS.Timeout | undefined;

  private constructor(options: JobRunnerOptions, store: JobStore, board: JobBoard) {
    this.#options = options;
    this.#board = board;
    this.#store = store;
    this.#sessions = new ClientSessions(options.server);
    this.#guard = new LeaseGuard(options.leaseMs);
    this.#duty = new JobDuty(store, this.#board, options.leaseMs);
  }

  static async begin(options: JobRunnerOptions): Promise<JobRunner> {
    const { bus, fleet, describe } = options;
    const board = new JobBoard();
    const store = await JobStore.open(bus, fleet, { author: describe().name, follower: board });
    const runner = new JobRunner(options, store, board);
    runner.#watch();
    runner.#duty.begin();
    const failed = (error: unknown): void => runner.#failed(error);
    keepMeasuringTime(options, { signal: runner.#over.signal, failed });
    return runner;
  }

  /** Jobs that run here. */
  get running(): number {
    return this.#attempts.size;
  }

  /** Something may have changed that lets this machine take a job. */
  wake(): void {
    this.#hesitating ??= setTimeout(() => {
      this.#hesitating = undefined;
      this.#pump();
    }, Math.random() * MAX_HESITATION_MS).unref();
  }

  /** Takes no more jobs, and ends those that run here. They may be repeated elsewhere, where that is allowed. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#over.abort();
    clearTimeout(this.#hesitating);
    for (const listener of this.#onState.splice(0)) listener();
    for (const { attempt } of this.#attempts.values()) attempt.end('leaving');
    // A job that is being claimed goes back.
    await this.#pumping;
    await Promise.all([...this.#attempts.values()].map(({ done }) => done));
    await this.#duty.close();
    this.#watching.abort();
    this.#guard.close();
    await this.#sessions.close();
  }

  #watch(): void {
    const { subjects, jobs } = this.#store;
    const { name } = this.#options.describe();
    const { signal } = this.#watching;
    const onCaughtUp = (): void => {
      this.#caughtUp += 1;
      this.wake();
    };
    const follow = (filter: string, lastOnly: boolean, onMessage: (message: Stored) => void): void => {
      const attempt = (): Promise<void> =>
        jobs.watch(filter, { onMessage, onCaughtUp, signal, lastOnly }).catch((error: unknown) => {
          this.#failed(error);
          // Nobody may have created the streams yet.
          setTimeout(() => void (signal.aborted || attempt()), LOOK_AGAIN_MS).unref();
        });
      void attempt();
    };
    const post = (message: Stored): void => {
      this.#board.post(message);
      this.wake();
    };
    follow(subjects.spec(ANY_MACHINE, '*', '*'), true, post);
    follow(subjects.spec(name, '*', '*'), true, post);
    follow(subjects.log('*', '*', '*', '*'), false, (message) => {
      this.#board.update(message);
      for (const listener of this.#onState.splice(0)) listener();
      this.#compare();
      this.#adopt();
      this.wake();
    });
  }

  #failed(error: unknown): void {
    if (this.#over.signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log?.warn({ reason }, 'cannot follow the jobs of the fleet');
  }

  /** Ends programs whose clients want it, and those that are no longer ours. */
  #compare(): void {
    if (this.#attempts.size === 0) return;
    const states = new Map(this.#board.running().map(({ key, state }) => [nameOf(key), state]));
    for (const [name, { attempt, running }] of this.#attempts) {
      const state = states.get(name);
      if (isStill(state, running) && state.cancel) attempt.end('cancelled');
    }
  }

  /** Begins what was claimed here without our being told that the claim was stored. */
  #adopt(): void {
    if (this.#pumping || this.#over.signal.aborted) return;
    const { name: machine, epoch } = this.#options.describe();
    for (const { key, order, state, step, stepSeq } of this.#board.running()) {
      if (state.state !== 'running' || state.machine !== machine || state.epoch !== epoch) continue;
      if (this.#begun.get(nameOf(key)) !== state.token)
        this.#begin({ key, order }, { running: state, step, claim: state.claim ?? stepSeq });
    }
  }

  #pump(): void {
    this.#pumping ??= this.#takeAll().finally(() => {
      this.#pumping = undefined;
      this.#adopt();
    });
  }

  async #takeAll(): Promise<void> {
    try {
      for (let job = this.#next(); job && !this.#over.signal.aborted; job = this.#next())
        await this.#claim(job);
    } catch (error) {
      this.#failed(error);
      setTimeout(() => this.wake(), LEAVE_ALONE_MS).unref();
    }
  }

  /** The job to take now, if there is one and room for it. */
  #next(): PostedJob | undefined {
    const machine = this.#options.describe();
    if (this.#caughtUp < 3 || machine.state !== 'ready' || this.#attempts.size >= this.#options.slots)
      return undefined;
    const now = performance.now();
    const candidates = this.#board.queuedFor(machine).filter((job) => this.#mayTake(job, now));
    const priority = candidates[0]?.order.priority;
    const equals = candidates.slice(0, CHOICE).filter(({ order }) => order.priority === priority);
    const chosen = this.#conflicts > 0 ? Math.floor(Math.random() * equals.length) : 0;
    return equals[chosen];
  }

  #mayTake(job: PostedJob, now: number): boolean {
    const { key, order, state, seenAt } = job;
    const name = nameOf(key);
    if (isExpired(job, this.#store.now()) || this.#attempts.has(name)) return false;
    const until = this.#leaveAlone.get(name) ?? 0;
    // After it was lost here, another machine should have it, if there is one.
    const last = state.state === 'queued' && state.last === this.#options.describe().name;
    const wait = Math.max(until - now, last ? seenAt + this.#options.leaseMs - now : 0);
    if (wait > 0) setTimeout(() => this.wake(), wait).unref();
    else this.#leaveAlone.delete(name);
    return wait <= 0 && (!order.limit || this.#board.inUse(order.limit.name) < order.limit.count);
  }

  async #claim(job: PostedJob): Promise<void> {
    const { key, state, step } = job;
    const { describe, leaseMs } = this.#options;
    const { name: machine, epoch } = describe();
    const { attempt, retriesLeft } = state;
    const running: RunningState = {
      state: 'running',
      attempt,
      retriesLeft,
      machine,
      epoch,
      token: randomBytes(8).toString('hex'),
      leaseMs,
      startedAt: Date.now(),
    };
    const { counts, now } = await this.#store.proposeStep(key, running, step + 1);
    if (counts) return this.#begin(job, { running, step: step + 1, claim: now.seq });
    this.#conflicts += 1;
    setTimeout(() => (this.#conflicts -= 1), LEAVE_ALONE_MS).unref();
    this.#leaveAlone.set(nameOf(key), performance.now() + LEAVE_ALONE_MS);
  }

  /** Runs a job that we have claimed. */
  #begin({ key, order }: Pick<PostedJob, 'key' | 'order'>, known: Claimed): void {
    const name = nameOf(key);
    const store = this.#store;
    const { running, claim } = known;
    const { attempt, retriesLeft } = running;
    const environment = () => this.#sessions.open(key.client);
    const run = new JobAttempt({ store, guard: this.#guard, key, order, known, environment });
    const work = async (): Promise<void> => {
      if (order.limit && !(await this.#isWithinLimit(order.limit, claim))) {
        const queue = () => settle(store, key, known, () => ({ state: 'queued', attempt, retriesLeft }));
        await insist(queue, { isOver: () => this.#over.signal.aborted });
        return;
      }
      await run.run();
    };
    const done = work()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#attempts.delete(name);
        this.#pump();
      });
    this.#remember(name, running.token);
    this.#attempts.set(name, { attempt: run, running, done });
    if (running.cancel) run.end('cancelled');
    if (this.#over.signal.aborted) run.end('leaving');
  }

  #remember(name: string, token: string): void {
    this.#begun.delete(name);
    this.#begun.set(name, token);
    const [oldest = ''] = this.#begun.keys();
    if (this.#begun.size > MAX_REMEMBERED) this.#begun.delete(oldest);
  }

  /**
   * All machines see states in the same order. A job may run if fewer than the limit were claimed before it and still run,
   * however many reached for it at once.
   */
  async #isWithinLimit({ name, count }: { name: string; count: number }, claim: number): Promise<boolean> {
    while (this.#board.lastSeq < claim && !this.#over.signal.aborted)
      await new Promise<void>((resolve) => this.#onState.push(resolve));
    return this.#board.inUse(name, claim) < count;
  }
}

function nameOf({ client, id }: JobKey): string {
  return `${client}.${id}`;
}
