/** No sandbox is made faster than this, so there is nothing to see before. */
const MIN_FIRST_LOOK_MS = 3;

/** Later than this a first look never comes: when a busy time is over, the next start must not wait long for one. */
const MAX_FIRST_LOOK_MS = 20;

/** A first look in vain puts the next sandbox's off by so much, one that was not brings it forward: every other is. */
const IN_VAIN = 1.2;
const NOT_IN_VAIN = 0.8;

/** Between two looks: most of the mounts are made by then. */
const MIN_PAUSE_MS = 1;

/** On a busy machine it takes longer, and a hundred sandboxes that look every millisecond keep it busy: look less often. */
const MAX_PAUSE_MS = 20;

/** A look may come late by this share of the time it took so far. */
const PAUSE_SHARE = 0.2;

/** How long sandboxes take to be made here, learned from one for the next. */
export class SetupPace {
  readonly #minFirstLookMs: number;
  #firstLookMs: number;

  /** How early it is worth looking at all. */
  constructor(minFirstLookMs = MIN_FIRST_LOOK_MS) {
    this.#minFirstLookMs = minFirstLookMs;
    this.#firstLookMs = minFirstLookMs;
  }

  /** To be asked when a sandbox begins to be made. */
  begin(now: () => number = () => performance.now()): SetupLooks {
    const used = this.#firstLookMs;
    const learn = (factor: number): void => {
      this.#firstLookMs = Math.min(Math.max(this.#minFirstLookMs, used * factor), MAX_FIRST_LOOK_MS);
    };
    return new SetupLooks({ firstLookMs: used, learn, now });
  }
}

/**
 * When to look whether one sandbox is made: first when those before it were about to be, then ever less often. Every look
 * takes some system calls, at a time when the machine has better things to do.
 */
export class SetupLooks {
  readonly #firstLookMs: number;
  readonly #learn: (factor: number) => void;
  readonly #now: () => number;
  readonly #began: number;
  #count = 0;

  constructor({
    firstLookMs,
    learn,
    now,
  }: {
    firstLookMs: number;
    learn: (factor: number) => void;
    now: () => number;
  }) {
    this.#firstLookMs = firstLookMs;
    this.#learn = learn;
    this.#now = now;
    this.#began = now();
  }

  /** How long to wait until the next look; asking again says that the last one was in vain. */
  pauseMs(): number {
    this.#count += 1;
    if (this.#count === 1) return this.#firstLookMs;
    if (this.#count === 2) this.#learn(IN_VAIN);
    const share = (this.#now() - this.#began) * PAUSE_SHARE;
    return Math.min(Math.max(MIN_PAUSE_MS, share), MAX_PAUSE_MS);
  }

  /** It was made when last looked at, or has even ended before. */
  found(): void {
    if (this.#count === 1) this.#learn(NOT_IN_VAIN);
  }
}
