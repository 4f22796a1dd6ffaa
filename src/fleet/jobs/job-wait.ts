import { ExecError } from '../../protocol/errors.js';
import { expire, isExpired } from './job-duty.js';
import { follow, UNTOUCHED } from './job-log.js';
import { firstState, type JobOrder, type JobState } from './job-records.js';
import type { Stored } from '../store/index.js';
import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';
import { LeaseWatch } from './lease-watch.js';

/** Looks at the lease, in the time of one. */
const LOOKS = 6;
const LONGEST_PAUSE_MS = 5_000;
const SHORTEST_PAUSE_MS = 200;

/** Follows the state of a job, and gives it up itself if its machine is lost: no other client may be there to do so. */
export class JobWait {
  readonly #store: JobStore;
  readonly #key: JobKey;
  readonly #order: JobOrder;
  readonly #leases: LeaseWatch;

  constructor(store: JobStore, key: JobKey, order: JobOrder) {
    this.#store = store;
    this.#key = key;
    this.#order = order;
    this.#leases = new LeaseWatch(store);
  }

  async untilEnded(signal?: AbortSignal): Promise<Extract<JobState, { state: 'ended' }>> {
    const state = await this.until(({ state: now }) => now === 'ended', signal);
    if (state.state !== 'ended') throw new ExecError('aborted', 'Waiting for the job was aborted.');
    return state;
  }

  /** Resolves to the first state that is meant. */
  async until(isMeant: (state: JobState) => boolean, signal?: AbortSignal): Promise<JobState> {
    const over = new AbortController();
    const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    const { client, id } = this.#key;
    let latest = UNTOUCHED;
    let isCaughtUp = false;
    const latestState = (): JobState => latest.state ?? firstState(this.#order);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<JobState>((resolve, reject) => {
        const look = (): void => {
          void this.#look(latestState(), latest.step)
            .catch(() => undefined)
            .finally(() => {
              if (!ended.aborted) timer = setTimeout(look, pauseOf(latestState()));
            });
        };
        // Earlier states do not count, nor answers from a node that is behind.
        const isNow = (): boolean => isCaughtUp && latest.step >= this.#store.lastStep(this.#key);
        const onMessage = (message: Stored): void => {
          latest = follow(latest, message);
          if (isNow() && isMeant(latestState())) resolve(latestState());
        };
        const onCaughtUp = (): void => {
          isCaughtUp = true;
          if (isNow() && isMeant(latestState())) resolve(latestState());
          else look();
        };
        const abort = (): void => reject(new ExecError('aborted', 'Waiting for the job was aborted.'));
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort, { once: true });
        this.#store.jobs
          .watch(this.#store.subjects.log(client, id, '*', '*'), {
            onMessage,
            onCaughtUp,
            signal: ended,
            lastOnly: false,
          })
          .catch(reject);
      });
    } finally {
      over.abort();
      clearTimeout(timer);
    }
  }

  async #look(state: JobState, step: number): Promise<void> {
    const [key, order] = [this.#key, this.#order];
    if (state.state === 'running') await this.#leases.check(key, { running: state, step });
    else if (isExpired({ order, state }, this.#store.now())) await expire(this.#store, { key, state, step });
  }
}

function pauseOf(state: JobState): number {
  const ms = state.state === 'running' ? state.leaseMs / LOOKS : LONGEST_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, ms));
}
