/** No sandbox is set up faster than this, so polling earlier is pointless. */
const MIN_FIRST_POLL_MS = 3;

/** The first poll is never later than this: once a busy period is over, the next start must not wait long for it. */
const MAX_FIRST_POLL_MS = 20;

/**
 * A first poll that comes too early delays the next sandbox's by this factor; one that does not advances it. Half of
 * them are too early.
 */
const TOO_EARLY = 1.2;
const IN_TIME = 0.8;

/** Between polls: most of the mounts are done by then. */
const MIN_PAUSE_MS = 1;

/**
 * On a busy machine setup takes longer, and a hundred sandboxes polling every millisecond would keep it busy: poll less
 * often.
 */
const MAX_PAUSE_MS = 20;

/** A poll may be late by this fraction of the time elapsed so far. */
const PAUSE_SHARE = 0.2;

/** Learns how long setting up a sandbox takes on this machine. */
export class SetupPace {
  readonly #minFirstPollMs: number;
  #firstPollMs: number;

  /** The earliest time worth polling at. */
  constructor(minFirstPollMs = MIN_FIRST_POLL_MS) {
    this.#minFirstPollMs = minFirstPollMs;
    this.#firstPollMs = minFirstPollMs;
  }

  /** Call when setup of a sandbox begins. */
  begin(now: () => number = () => performance.now()): SetupPolls {
    const used = this.#firstPollMs;
    const learn = (factor: number): void => {
      this.#firstPollMs = Math.min(Math.max(this.#minFirstPollMs, used * factor), MAX_FIRST_POLL_MS);
    };
    return new SetupPolls({ firstPollMs: used, learn, now });
  }
}

/**
 * When to check whether one sandbox is ready: first when earlier ones were about to be, then less and less often. Every
 * poll takes a few system calls, at a time when the machine has better things to do.
 */
export class SetupPolls {
  readonly #firstPollMs: number;
  readonly #learn: (factor: number) => void;
  readonly #now: () => number;
  readonly #began: number;
  #count = 0;

  constructor({
    firstPollMs,
    learn,
    now,
  }: {
    firstPollMs: number;
    learn: (factor: number) => void;
    now: () => number;
  }) {
    this.#firstPollMs = firstPollMs;
    this.#learn = learn;
    this.#now = now;
    this.#began = now();
  }

  /** How long to wait until the next poll; calling again means that the last one was too early. */
  pauseMs(): number {
    this.#count += 1;
    if (this.#count === 1) return this.#firstPollMs;
    if (this.#count === 2) this.#learn(TOO_EARLY);
    const share = (this.#now() - this.#began) * PAUSE_SHARE;
    return Math.min(Math.max(MIN_PAUSE_MS, share), MAX_PAUSE_MS);
  }

  /** The sandbox was ready at the last poll, or had even ended. */
  found(): void {
    if (this.#count === 1) this.#learn(IN_TIME);
  }
}
