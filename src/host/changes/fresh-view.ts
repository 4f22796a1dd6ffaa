import type { Epochs } from './epochs.js';
import type { HeldMounts, MountMeans } from './held-mounts.js';

/** File operations follow each other more closely than somebody replaces files. */
const BRIEFLY_FRESH_MS = 20;

/** Who else is in a set. */
export interface Company {
  /** How many programs run in it. */
  readonly running: number;
  /** Whether a file operation comes, and no program. */
  readonly isBrief: boolean;
}

/**
 * Keeps what programs of a set see in step with the files below. The kernel remembers which file a name in an overlay stands
 * for, and does not notice when somebody replaces it below, as editors and `git` do: the next program would see, change and
 * finally apply what the file was before.
 */
export class FreshView {
  readonly #epochs: () => Epochs;
  #work: Promise<void> = Promise.resolve();
  #freshAt = Number.NEGATIVE_INFINITY;
  #means: MountMeans | undefined;

  constructor(epochs: () => Epochs) {
    this.#epochs = epochs;
  }

  /** Call before somebody enters. */
  async beforeEntering(mounts: HeldMounts, means: MountMeans, { running, isBrief }: Company): Promise<void> {
    this.#means = means;
    await this.#work;
    const isFresh = isBrief && performance.now() - this.#freshAt < BRIEFLY_FRESH_MS;
    if (isFresh || !(await mounts.forgetNames(means))) return;
    this.#freshAt = performance.now();
    // Somebody who is still there may know what was there before.
    if (running === 0) this.#epochs().begin();
  }

  /** Call when the last program has ended. Whatever is forgotten by then does not delay the next one. */
  afterwards(mounts: HeldMounts): void {
    const means = this.#means;
    if (means === undefined) return;
    const forget = async (): Promise<void> => void (await mounts.forgetNames(means));
    this.#work = this.#work.then(forget).catch(() => undefined);
  }

  /** Resolves when the mounts are no longer needed here. */
  async untilIdle(): Promise<void> {
    await this.#work;
  }
}
