import type { ChangeCounts, ChangesUpdate } from '../../contract/index.js';
import type { OwnedSet } from './owned-set.js';

/** Counting takes at most this part of the time: one in five. */
const REST_SHARE = 4;

const NOTHING: ChangeCounts = { created: 0, modified: 0, deleted: 0 };

/**
 * Why a set is counted: a program in it has ended or somebody wrote a file in it, which is reported in any case, or it takes up
 * more room than before, which may make no difference.
 */
export type Growth = 'ended' | 'larger';

/** Reports what one set holds after it may have grown, however often that happens. */
export class GrowthReports {
  readonly #set: OwnedSet;
  readonly #report: (update: ChangesUpdate) => void;
  #due: Growth | null = null;
  #isBusy = false;
  #notBefore = 0;
  #reported = JSON.stringify(NOTHING);

  constructor(set: OwnedSet, report: (update: ChangesUpdate) => void) {
    this.#set = set;
    this.#report = report;
  }

  add(growth: Growth): void {
    this.#due = this.#due === 'ended' ? 'ended' : growth;
    if (!this.#isBusy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    while (this.#due !== null) {
      await rest(this.#notBefore - performance.now());
      const growth = this.#due;
      this.#due = null;
      await this.#count(growth);
    }
    this.#isBusy = false;
  }

  async #count(growth: Growth): Promise<void> {
    const began = performance.now();
    // It may be gone before it is counted.
    const counts = await this.#set.counts().catch(() => null);
    const now = performance.now();
    this.#notBefore = now + REST_SHARE * (now - began);
    if (counts === null) return;
    const { changesId, running } = this.#set;
    const text = JSON.stringify(counts);
    if (growth === 'ended' || text !== this.#reported) this.#report({ changesId, counts, running });
    this.#reported = text;
  }
}

/** Does not keep a program alive that has nothing else to do. */
async function rest(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms).unref());
}
