import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../protocol/errors.js';
import type { Bus } from '../bus/bus.js';
import { StreamStore, streamsOf } from '../store/index.js';
import { follow, type Standing, UNTOUCHED } from './job-log.js';
import { JobEnd, JobLease, type JobState, readRecord } from './job-records.js';
import { type JobKey, type JobSubjects, jobSubjects } from './job-subjects.js';

/** How long to wait for a node that is behind the others. */
const CATCH_UP_MS = 20;
const CATCH_UP_PATIENCE_MS = 10_000;
/** Likewise for the end of an attempt, which was stored before the state that says so. */
export const END_PATIENCE_MS = 10_000;
/** Jobs of which we remember how far they were. */
const MAX_REMEMBERED = 10_000;
const ANY = '*';

/** What came of a step that we have proposed. */
export interface Verdict {
  /** False: somebody else was faster. */
  readonly counts: boolean;
  readonly now: Standing;
}

/** Somebody who follows the logs of all jobs. */
export interface LogFollower {
  /** Resolves when a message was seen. */
  verdictOn(id: string): Promise<Verdict>;
  forget(id: string): void;
}

/** A record, and the message that holds it. */
export interface Revised<Record> {
  readonly record: Record | undefined;
  /** The number of the message; 0 if there is none yet. */
  readonly seq: number;
  /** Different for each message, and the same on all nodes. */
  readonly id: string;
}

/** The jobs of a fleet, as NATS keeps them. */
export class JobStore {
  readonly subjects: JobSubjects;
  readonly jobs: StreamStore;
  readonly output: StreamStore;
  readonly #author: string;
  readonly #follower: LogFollower | undefined;
  /** The last step we know of, of each job: a node that is behind must not take us back. */
  readonly #steps = new Map<string, number>();

  private constructor(
    { subjects, jobs, output }: { subjects: JobSubjects; jobs: StreamStore; output: StreamStore },
    { author, follower }: { author: string; follower: LogFollower | undefined },
  ) {
    this.subjects = subjects;
    this.jobs = jobs;
    this.output = output;
    this.#author = author;
    this.#follower = follower;
  }

  /** `author`: the machine, or `CLIENT`. */
  static async open(
    bus: Bus,
    fleet: string,
    { author, follower }: { author: string; follower?: LogFollower },
  ): Promise<JobStore> {
    const streams = streamsOf(fleet);
    const [jobs, output] = await Promise.all([
      StreamStore.open(bus, streams.jobs),
      StreamStore.open(bus, streams.output),
    ]);
    return new JobStore({ subjects: jobSubjects(fleet), jobs, output }, { author, follower });
  }

  /** The time by which orders and states are stamped; undefined before anything was read. */
  now(): number | undefined {
    return this.jobs.now();
  }

  /** Where a job stands, all that we know ourselves included. */
  async state(key: JobKey): Promise<Standing> {
    const deadline = performance.now() + CATCH_UP_PATIENCE_MS;
    for (;;) {
      const { now } = await this.#readLog(key);
      if (now.step >= this.lastStep(key) || performance.now() > deadline) return now;
      await pause(CATCH_UP_MS);
    }
  }

  /** The last step of a job that we know of. */
  lastStep({ client, id }: JobKey): number {
    return this.#steps.get(`${client}.${id}`) ?? 0;
  }

  /** Proposes the next step of a job. */
  async proposeStep(key: JobKey, state: JobState, step: number): Promise<Verdict> {
    const id = randomBytes(8).toString('hex');
    const subject = this.subjects.log(key.client, key.id, String(step), this.#author);
    const awaited = this.#follower?.verdictOn(id);
    try {
      await this.jobs.put(subject, JSON.stringify(state), { id });
      const seen = await Promise.race([awaited, pause(CATCH_UP_PATIENCE_MS, undefined, { ref: false })]);
      const verdict = seen ?? (await this.#readVerdict(key, step, id));
      this.#remember(key, verdict.now.step);
      return verdict;
    } finally {
      this.#follower?.forget(id);
    }
  }

  async lease({
    client,
    id,
  }: JobKey): Promise<Revised<{ attempt: number; epoch: number; broken?: boolean | undefined }>> {
    return await this.#read(this.subjects.lease(client, id), JobLease);
  }

  /** How that attempt ended, if its machine has told. The node that is asked may learn of it a moment later. */
  async end(
    { client, id }: JobKey,
    { machine, attempt }: { machine: string; attempt: number },
    { patienceMs = 0 }: { patienceMs?: number } = {},
  ): Promise<JobEnd | undefined> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const subject = this.subjects.end(machine, client, id, String(attempt));
      const { record } = await this.#read(subject, JobEnd);
      if (record?.attempt === attempt) return record;
      if (performance.now() >= deadline) return undefined;
      await pause(CATCH_UP_MS);
    }
  }

  /** Resolves to the number of the message, or null if somebody else was faster. */
  async writeLease(
    { client, id }: JobKey,
    lease: { attempt: number; epoch: number; broken?: boolean },
    options: { after: number; patienceMs?: number },
  ): Promise<number | null> {
    return await this.jobs.put(this.subjects.lease(client, id), JSON.stringify(lease), options);
  }

  async writeEnd({ client, id }: JobKey, machine: string, end: JobEnd): Promise<void> {
    const subject = this.subjects.end(machine, client, id, String(end.attempt));
    await this.jobs.put(subject, JSON.stringify(end));
  }

  async #read<Record>(
    subject: string,
    schema: Parameters<typeof readRecord<Record>>[0],
  ): Promise<Revised<Record>> {
    const stored = await this.jobs.get(subject);
    const record = stored ? readRecord(schema, stored.data) : undefined;
    return { record, seq: stored?.seq ?? 0, id: stored?.id ?? '' };
  }

  async #readVerdict(key: JobKey, step: number, id: string): Promise<Verdict> {
    const deadline = performance.now() + CATCH_UP_PATIENCE_MS;
    for (;;) {
      const { now, ids, counted } = await this.#readLog(key);
      if (ids.has(id)) return { counts: counted.get(step) === id, now };
      if (performance.now() > deadline)
        throw new ExecError('notConnected', 'JetStream does not show what it has stored.');
      await pause(CATCH_UP_MS);
    }
  }

  /** Reads the log of one job: where it stands, the ids of all messages, and of those that count by their step. */
  async #readLog({
    client,
    id,
  }: JobKey): Promise<{ now: Standing; ids: Set<string>; counted: Map<number, string> }> {
    let now = UNTOUCHED;
    const ids = new Set<string>();
    const counted = new Map<number, string>();
    for (const message of await this.jobs.scan(this.subjects.log(client, id, ANY, ANY), {
      lastOnly: false,
    })) {
      now = follow(now, message);
      ids.add(message.id);
      counted.set(now.step, now.id);
    }
    return { now, ids, counted };
  }

  #remember({ client, id }: JobKey, step: number): void {
    const name = `${client}.${id}`;
    this.#steps.delete(name);
    this.#steps.set(name, step);
    const [oldest = ''] = this.#steps.keys();
    if (this.#steps.size > MAX_REMEMBERED) this.#steps.delete(oldest);
  }
}
