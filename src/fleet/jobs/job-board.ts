import type { Machine } from '../machine.js';
import { matches, parseSelector, type Selector } from '../selector.js';
import type { Stored } from '../store/index.js';
import { firstState, JobOrder, JobState, readRecord } from './job-records.js';
import { type JobKey, keyOf } from './job-subjects.js';

/** A job as the board knows it. */
export interface PostedJob {
  readonly key: JobKey;
  readonly order: JobOrder;
  /** Where it is in the queue, among those of the same priority. */
  readonly place: number;
  readonly state: JobState;
  /** The number of the message with its state; 0: it has none yet. */
  readonly stateSeq: number;
  /** When we learned of its state, by our own clock. */
  readonly seenAt: number;
}

interface Posting {
  key: JobKey;
  order?: JobOrder;
  selector?: Selector;
  place: number;
  state?: JobState;
  stateSeq: number;
  seenAt: number;
}

/** Jobs that a machine remembers. Beyond it, further ones wait until others have ended. */
const MAX_POSTINGS = 100_000;

/** All jobs of a fleet that a machine may see, kept up to date by watching their streams. */
export class JobBoard {
  readonly #postings = new Map<string, Posting>();
  #lastSeq = 0;

  /** A job was submitted. */
  post(message: Stored): void {
    const posting = this.#posting(message.subject);
    const order = readRecord(JobOrder, message.data);
    if (!posting || !order) return;
    try {
      posting.selector = parseSelector(order.selector);
    } catch {
      // Nobody matches it.
      return;
    }
    posting.order = order;
    posting.place = message.seq;
  }

  /** Where a job stands has changed. */
  update(message: Stored): void {
    this.#lastSeq = Math.max(this.#lastSeq, message.seq);
    const posting = this.#posting(message.subject);
    const state = readRecord(JobState, message.data);
    if (!posting || !state || message.seq <= posting.stateSeq) return;
    posting.state = state;
    posting.stateSeq = message.seq;
    posting.seenAt = performance.now();
  }

  /** The number of the last state we know of. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Queued jobs that a machine may take: the highest priority first, then the earliest. */
  queuedFor(machine: Pick<Machine, 'name' | 'labels'>): PostedJob[] {
    return [...this.#postings.values()]
      .filter(
        ({ selector, state }) =>
          selector && (state?.state ?? 'queued') === 'queued' && matches(selector, machine),
      )
      .flatMap(jobOf)
      .sort((a, b) => b.order.priority - a.order.priority || a.place - b.place);
  }

  queued(): PostedJob[] {
    return [...this.#postings.values()]
      .filter(({ state }) => (state?.state ?? 'queued') === 'queued')
      .flatMap(jobOf);
  }

  running(): PostedJob[] {
    return [...this.#postings.values()].filter(({ state }) => state?.state === 'running').flatMap(jobOf);
  }

  /** How many running jobs name a limit, of those claimed before a message. */
  inUse(limit: string, before = Number.POSITIVE_INFINITY): number {
    return this.running().filter(({ order, state, stateSeq }) => {
      const claim = state.state === 'running' ? (state.claim ?? stateSeq) : 0;
      return order.limit?.name === limit && claim < before;
    }).length;
  }

  #posting(subject: string): Posting | undefined {
    const key = keyOf(subject);
    const name = `${key.client}.${key.id}`;
    const known = this.#postings.get(name);
    if (known) return known;
    if (this.#postings.size >= MAX_POSTINGS) this.#forgetEnded();
    if (this.#postings.size >= MAX_POSTINGS) return undefined;
    const posting: Posting = { key, place: 0, stateSeq: 0, seenAt: performance.now() };
    this.#postings.set(name, posting);
    return posting;
  }

  #forgetEnded(): void {
    for (const [name, { state }] of this.#postings) if (state?.state === 'ended') this.#postings.delete(name);
  }
}

function jobOf({ key, order, place, state, stateSeq, seenAt }: Posting): PostedJob[] {
  return order ? [{ key, order, place, state: state ?? firstState(order), stateSeq, seenAt }] : [];
}
