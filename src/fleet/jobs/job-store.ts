import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '../bus/bus.js';
import { StreamStore, streamsOf } from '../store/index.js';
import { JobEnd, JobLease, JobState, readRecord, type RunningState } from './job-records.js';
import { type JobKey, type JobSubjects, jobSubjects } from './job-subjects.js';

/** How long to wait for a node that is behind the others. */
const CATCH_UP_MS = 20;

/** A record, and the number of the message that holds it; 0 if there is none yet. */
export interface Revised<Record> {
  readonly record: Record | undefined;
  readonly seq: number;
}

/** The jobs of a fleet, as NATS keeps them. A record is changed only by those who know its last revision. */
export class JobStore {
  readonly subjects: JobSubjects;
  readonly jobs: StreamStore;
  readonly output: StreamStore;
  #written = 0;
  /** Nobody else writes messages with these ids. */
  readonly #writer = randomBytes(8).toString('hex');

  private constructor(subjects: JobSubjects, jobs: StreamStore, output: StreamStore) {
    this.subjects = subjects;
    this.jobs = jobs;
    this.output = output;
  }

  static async open(bus: Bus, fleet: string): Promise<JobStore> {
    const streams = streamsOf(fleet);
    const [jobs, output] = await Promise.all([
      StreamStore.open(bus, streams.jobs),
      StreamStore.open(bus, streams.output),
    ]);
    return new JobStore(jobSubjects(fleet), jobs, output);
  }

  async state({ client, id }: JobKey): Promise<Revised<JobState>> {
    return await this.#read(this.subjects.state(client, id), JobState);
  }

  /** The state that follows a message, once the node that is asked knows it. */
  async stateAfter(key: JobKey, seq: number): Promise<Revised<JobState>> {
    for (;;) {
      const state = await this.state(key);
      if (state.seq > seq) return state;
      await pause(CATCH_UP_MS);
    }
  }

  async lease({
    client,
    id,
  }: JobKey): Promise<Revised<{ attempt: number; epoch: number; broken?: boolean | undefined }>> {
    return await this.#read(this.subjects.lease(client, id), JobLease);
  }

  /** How that attempt ended, if its machine has told. */
  async end({ client, id }: JobKey, machine: string, attempt: number): Promise<JobEnd | undefined> {
    const { record } = await this.#read(this.subjects.end(machine, client, id), JobEnd);
    return record?.attempt === attempt ? record : undefined;
  }

  /** Resolves to the number of the message, or null if somebody else was faster. */
  async writeState({ client, id }: JobKey, state: JobState, after: number): Promise<number | null> {
    return await this.#write(this.subjects.state(client, id), state, { after });
  }

  async writeLease(
    { client, id }: JobKey,
    lease: { attempt: number; epoch: number; broken?: boolean },
    { after, patienceMs }: { after: number; patienceMs?: number },
  ): Promise<number | null> {
    const subject = this.subjects.lease(client, id);
    return await this.#write(subject, lease, { after, ...(patienceMs === undefined ? {} : { patienceMs }) });
  }

  async writeEnd({ client, id }: JobKey, machine: string, end: JobEnd): Promise<void> {
    await this.#write(this.subjects.end(machine, client, id), end, {});
  }

  /** An id for a message that nobody has used. */
  nextId(): string {
    this.#written += 1;
    return `${this.#writer}.${this.#written}`;
  }

  async #read<Record>(
    subject: string,
    schema: Parameters<typeof readRecord<Record>>[0],
  ): Promise<Revised<Record>> {
    const stored = await this.jobs.get(subject);
    return { record: stored ? readRecord(schema, stored.data) : undefined, seq: stored?.seq ?? 0 };
  }

  async #write(
    subject: string,
    record: object,
    options: { after?: number; patienceMs?: number },
  ): Promise<number | null> {
    return await this.jobs.put(subject, JSON.stringify(record), { msgId: this.nextId(), ...options });
  }
}

/** Whether a state still says that this attempt runs there. */
export function isStill(
  state: JobState | undefined,
  { machine, epoch, attempt }: RunningState,
): state is RunningState {
  return (
    state?.state === 'running' &&
    state.machine === machine &&
    state.epoch === epoch &&
    state.attempt === attempt
  );
}
