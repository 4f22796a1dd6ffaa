import type { Machine } from '../machine.js';
import { matches, parseSelector, type Selector } from '../selector.js';
import type { Stored } from '../store/index.js';
import { follow, type Standing, UNTOUCHED } from './job-log.js';
import { firstState, type JobOrder, type JobState, orderOf } from './job-records.js';
import type { LogFollower, Verdict } from './job-store.js';
import { type JobKey, keyOf, stepOf } from './job-subjects.js';

/** A job as the board knows it. */
export interface PostedJob {
  readonly key: JobKey;
  readonly order: JobOrder;
  /** Where it is in the queue, among those of the same priority. */
  readonly place: number;
  readonly state: JobState;
  /** The step with its state; 0: it has none yet. */
  readonly step: number;
  /** The number of the message with that step. */
  readonly stepSeq: number;
  /** When we learned of its state, by our own clock. */
  readonly seenAt: number;
}

interface Posting {
  key: JobKey;
  order?: JobOrder;
  selector?: Selector;
  place: number;
  now: Standing;
  seenAt: number;
}

/** Jobs that a machine remembers. Beyond it, further ones wait until others have ended. */
const MAX_POSTINGS = 100_000;

/** All jobs of a fleet that a machine may see, kept up to date by watching their streams. */
export class JobBoard implements LogFollower {
  readonly #postings = new Map<string, Posting>();
  /** Those that have not ended: few of all that are remembered. */
  readonly #open = new Set<Posting>();
  readonly #awaited = new Map<string, (verdict: Verdict) => void>();
  #lastSeq = 0;

  verdictOn(id: string): Promise<Verdict> {
    return new Promise((resolve) => this.#awaited.set(id, resolve));
  }

  forget(id: string): void {
    this.#awaited.delete(id);
  }

  /** A job was submitted. */
  post(message: Stored): void {
    const posting = this.#posting(keyOf(message.subject));
    const order = orderOf(message);
    if (!posting || !order) return;
    try {
      posting.selector = parseSelector(order.selector);
    } catch {
      // No machine matches it.
      return;
    }
    posting.order = order;
    posting.place = message.seq;
  }

  /** A step of a job was proposed. */
  update(message: Stored): void {
    this.#lastSeq = Math.max(this.#lastSeq, message.seq);
    const posting = this.#posting(stepOf(message.subject).key);
    if (!posting) return;
    const now = follow(posting.now, message);
    if (now !== posting.now) posting.seenAt = performance.now();
    posting.now = now;
    if (now.state?.state === 'ended') this.#open.delete(posting);
    else this.#open.add(posting);
    this.#awaited.get(message.id)?.({ counts: now.id === message.id, now });
  }

  /** The number of the last step we know of. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Queued jobs that a machine may take: the highest priority first, then the earliest. */
  queuedFor(machine: Pick<Machine, 'name' | 'labels'>): PostedJob[] {
    return [...this.#open]
      .filter(({ selector, now }) => isQueued(now) && selector && matches(selector, machine))
      .flatMap(jobOf)
      .sort((a, b) => b.order.priority - a.order.priority || a.place - b.place);
  }

  queued(): PostedJob[] {
    return [...this.#open].filter(({ now }) => isQueued(now)).flatMap(jobOf);
  }

  running(): PostedJob[] {
    return [...this.#open].filter(({ now }) => now.state?.state === 'running').flatMap(jobOf);
  }

  /** How many running jobs name a limit, of those claimed before a message. */
  inUse(limit: string, before = Number.POSITIVE_INFINITY): number {
    return this.running().filter(({ order, state, stepSeq }) => {
      const claim = state.state === 'running' ? (state.claim ?? stepSeq) : 0;
      return order.limit?.name === limit && claim < before;
    }).length;
  }

  #posting(key: JobKey): Posting | undefined {
    const name = `${key.client}.${key.id}`;
    const known = this.#postings.get(name);
    if (known) return known;
    if (this.#postings.size >= MAX_POSTINGS) this.#forgetEnded();
    if (this.#postings.size >= MAX_POSTINGS) return undefined;
    const posting: Posting = { key, place: 0, now: UNTOUCHED, seenAt: performance.now() };
    this.#postings.set(name, posting);
    this.#open.add(posting);
    return posting;
  }

  #forgetEnded(): void {
    for (const [name, { now }] of this.#postings)
      if (now.state?.state === 'ended') this.#postings.delete(name);
  }
}

function isQueued({ state }: Standing): boolean {
  return (state?.state ?? 'queued') === 'queued';
}

function jobOf({ key, order, place, now, seenAt }: Posting): PostedJob[] {
  const { state, step, seq: stepSeq } = now;
  return order ? [{ key, order, place, state: state ?? firstState(order), step, stepSeq, seenAt }] : [];
}
