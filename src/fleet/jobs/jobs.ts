import { randomBytes } from 'node:crypto';
import { ExecError } from '../../protocol/errors.js';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '../bus/bus.js';
import type { Machine } from '../machine.js';
import { parseSelector, type Selector } from '../selector.js';
import type { Stored } from '../store/index.js';
import { requireName } from '../subjects.js';
import { type Job, jobOf, type JobOutput, type JobRequest } from './job.js';
import { isPast } from './job-duty.js';
import { readOutput } from './job-output.js';
import { follow, type Standing, UNTOUCHED } from './job-log.js';
import { firstState, JobOrder, type JobState, orderOf } from './job-records.js';
import { END_PATIENCE_MS, JobStore } from './job-store.js';
import { ANY_MACHINE, CLIENT, type JobKey, keyOf, stepOf } from './job-subjects.js';
import { JobWait } from './job-wait.js';
import { whyQueued } from './why-queued.js';

/** What a job may take in the queue. */
const MAX_ORDER_BYTES = 256 * 1024;
/** A job that has just been submitted is known to all nodes after a moment. */
const FIND_TRIES = 5;
const FIND_AGAIN_MS = 100;
/** Matches any one client or id. */
const ANY = '*';
/** Results that are read at a time. */
const PARALLEL_READS = 64;

/**
 * Where jobs are stored, and our identity there.
 *
 * @internal
 */
export interface JobsPlace {
  readonly bus: Bus;
  readonly fleet: string;
  readonly identity: string;
  /** The machines our credentials give access to. Default: all. */
  readonly machines: readonly string[] | undefined;
  readonly list: () => Promise<Machine[]>;
}

/** The jobs of a fleet: what is submitted is kept by NATS, and taken by exactly one machine that matches. */
export class Jobs {
  readonly #place: JobsPlace;
  readonly #store: JobStore;

  private constructor(place: JobsPlace, store: JobStore) {
    this.#place = place;
    this.#store = store;
  }

  /**
   * Use `fleet.jobs()`.
   *
   * @internal
   */
  static async open(place: JobsPlace): Promise<Jobs> {
    return new Jobs(place, await JobStore.open(place.bus, place.fleet, { author: CLIENT }));
  }

  /**
   * The time by the clock of NATS, which all times of jobs refer to: this machine's clock may be wrong. Until something was read
   * from NATS, the time of this machine.
   */
  now(): number {
    return this.#store.now() ?? Date.now();
  }

  /** Resolves when the job is stored on several NATS nodes: from then on, the loss of one of them does not lose it. */
  async submit(request: JobRequest): Promise<Job> {
    const {
      on,
      argv,
      cwd,
      env,
      name,
      retries = 0,
      retryOn = 'lost',
      priority = 0,
      deadlineMs,
      limit,
    } = request;
    const target = this.#targetOf(parseSelector(on));
    if (limit) requireName(limit.name, 'The name of a limit');
    const submittedAt = this.now();
    const deadlineAt = deadlineMs === undefined ? undefined : submittedAt + deadlineMs;
    const fields = {
      selector: on,
      argv,
      cwd,
      env,
      name,
      retries,
      retryOn,
      priority,
      limit,
      submittedAt,
      deadlineAt,
    };
    const order = JobOrder.safeParse(fields);
    if (!order.success) throw new ExecError('invalidConfiguration', 'The job is malformed.');
    const text = JSON.stringify(order.data);
    if (Buffer.byteLength(text) > MAX_ORDER_BYTES)
      throw new ExecError('invalidConfiguration', `A job takes at most ${MAX_ORDER_BYTES} bytes.`);
    const key = { client: this.#place.identity, id: randomBytes(5).toString('hex') };
    const subject = this.#store.subjects.spec(target, key.client, key.id);
    await this.#store.jobs.put(subject, text);
    return jobOf(key, order.data, firstState(order.data));
  }

  /** Our jobs, or those of all clients, which only administrators may see. The latest come last. */
  async list({ all = false }: { all?: boolean } = {}): Promise<Job[]> {
    const client = all ? ANY : this.#place.identity;
    const { subjects, jobs } = this.#store;
    const [specs, steps] = await Promise.all([
      jobs.scan(subjects.spec(ANY, client, ANY)),
      jobs.scan(subjects.log(client, ANY, ANY, ANY), { lastOnly: false }),
    ]);
    const known = new Map<string, Standing>();
    for (const message of steps) {
      const name = nameOf(stepOf(message.subject).key);
      known.set(name, follow(known.get(name) ?? UNTOUCHED, message));
    }
    const found: Job[] = [];
    const deadline = performance.now() + END_PATIENCE_MS;
    const read = async ({ subject, data, timeMs }: (typeof specs)[number]): Promise<Job[]> => {
      const key = keyOf(subject);
      const order = orderOf({ data, timeMs });
      if (!order) return [];
      const state = known.get(nameOf(key))?.state ?? firstState(order);
      return [await this.#withEnd(key, order, state, Math.max(0, deadline - performance.now()))];
    };
    for (let from = 0; from < specs.length; from += PARALLEL_READS)
      found.push(...(await Promise.all(specs.slice(from, from + PARALLEL_READS).map(read))).flat());
    return found;
  }

  /** A job by its id, or by the beginning of it. */
  async describe(id: string): Promise<Job> {
    const { key, order } = await this.#find(id);
    const { state } = await this.#store.state(key);
    return await this.#withEnd(key, order, state ?? firstState(order));
  }

  /** Why a job is not running, in one sentence; undefined if it is not queued. */
  async whyQueued(job: Job): Promise<string | undefined> {
    if (job.state !== 'queued') return undefined;
    return whyQueued(job, await this.#place.list(), await this.list());
  }

  /** Resolves when a job has its result. A machine that is lost is noticed here even if no other one is left. */
  async wait(id: string, { signal }: { signal?: AbortSignal } = {}): Promise<Job> {
    const { key, order } = await this.#find(id);
    const state = await new JobWait(this.#store, key, order).untilEnded(signal);
    return await this.#withEnd(key, order, state);
  }

  /**
   * The output of a job, as far as the fleet keeps it: the end of the last attempt's output, with gaps reported. With `follow`,
   * until it has ended.
   */
  async *output(
    id: string,
    { follow = false, attempt, signal }: { follow?: boolean; attempt?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<JobOutput> {
    const { key, order } = await this.#find(id);
    yield* readOutput(this.#store, key, order, { follow, attempt, signal });
  }

  /** Asks for the end of a job, running or not. Resolves to false if it had ended. */
  async cancel(id: string): Promise<boolean> {
    const { key, order } = await this.#find(id);
    return await this.#change(key, (state, seq) => {
      const now = state ?? firstState(order);
      if (now.state === 'ended') return null;
      if (now.state === 'running') return { ...now, cancel: true, claim: now.claim ?? seq };
      const { attempt, retriesLeft } = now;
      return { state: 'ended', attempt, retriesLeft, outcome: 'cancelled', endedAt: Date.now() };
    });
  }

  /** Queues a job again that has ended. Resolves to false if it has not. */
  async retry(id: string): Promise<boolean> {
    const { key, order } = await this.#find(id);
    if (isPast(order, this.#store.now()))
      throw new ExecError('invalidConfiguration', 'The deadline of this job has passed; submit it again.');
    return await this.#change(key, (state) =>
      state?.state === 'ended'
        ? { state: 'queued', attempt: state.attempt + 1, retriesLeft: order.retries }
        : null,
    );
  }

  /** Changes a state, again if another one was first. Null changes nothing. */
  async #change(
    key: JobKey,
    next: (state: JobState | undefined, seq: number) => JobState | null,
  ): Promise<boolean> {
    let before = await this.#store.state(key);
    for (;;) {
      const changed = next(before.state, before.seq);
      if (!changed) return false;
      const { counts, now } = await this.#store.proposeStep(key, changed, before.step + 1);
      if (counts) return true;
      before = now;
    }
  }

  async #find(id: string): Promise<{ key: JobKey; order: JobOrder }> {
    let found = await this.#search(id);
    for (let tries = 1; found.length === 0 && tries < FIND_TRIES; tries += 1) {
      await pause(FIND_AGAIN_MS);
      found = await this.#search(id);
    }
    const exact = found.find(({ subject }) => keyOf(subject).id === id) ?? found[0];
    const order = exact ? orderOf(exact) : undefined;
    const shown = id.slice(0, 64);
    if (!exact || !order)
      throw new ExecError('processNotFound', `No job "${shown}" is known; see \`execwire job ls\`.`);
    if (found.length > 1 && keyOf(exact.subject).id !== id)
      throw new ExecError('processNotFound', `Several jobs begin with "${shown}"; type more of the id.`);
    return { key: keyOf(exact.subject), order };
  }

  async #search(id: string): Promise<Stored[]> {
    const { subjects, jobs } = this.#store;
    const specs = await jobs.scan(subjects.spec(ANY, this.#place.identity, ANY));
    const own = specs.filter(({ subject }) => keyOf(subject).id.startsWith(id));
    return own.length > 0 ? own : await this.#searchOfOthers(id);
  }

  /** Administrators reach the jobs of all clients; for others there are none. */
  async #searchOfOthers(id: string): Promise<Stored[]> {
    const { subjects, jobs } = this.#store;
    const all = await jobs.scan(subjects.spec(ANY, ANY, ANY)).catch(() => []);
    return all.filter(({ subject }) => keyOf(subject).id.startsWith(id));
  }

  async #withEnd(key: JobKey, order: JobOrder, state: JobState, patienceMs = END_PATIENCE_MS): Promise<Job> {
    if (state.state !== 'ended' || state.outcome !== 'ended' || state.machine === undefined)
      return jobOf(key, order, state);
    const attempt = { machine: state.machine, attempt: state.attempt };
    return jobOf(key, order, state, await this.#store.end(key, attempt, { patienceMs }));
  }

  /** The NATS server lets us submit only to machines that we may reach. */
  #targetOf({ terms }: Selector): string {
    const { machines } = this.#place;
    const named = terms.find(({ key, values, negated }) => key === 'name' && values.length === 1 && !negated);
    const [name] = named?.values ?? [];
    if (machines && (name === undefined || !machines.includes(name)))
      throw new ExecError(
        'invalidConfiguration',
        `These credentials reach only some machines: name one of them, such as --on name=${machines[0] ?? ''}.`,
      );
    return name === undefined ? ANY_MACHINE : requireName(name, 'The name of a machine');
  }
}

function nameOf({ client, id }: JobKey): string {
  return `${client}.${id}`;
}
