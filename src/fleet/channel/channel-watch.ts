/** Ticks are counted rather than time: what arrived while this process was busy or asleep is read between two of them. */
export const TICK_MS = 100;

/** After this long without a word, the other side counts as gone. */
const SILENCE_TICKS = 200;
/** Likewise after this long without a subscriber. A machine that changes to another NATS node is back sooner. */
const NOBODY_TICKS = 25;
/** How long the answer to a probe may take. */
const PROBE_TICKS = 20;
/** How soon to ask whether something got lost, at first and at most. */
const FIRST_ASK_TICKS = 3;
const MAX_ASK_TICKS = 10;
/** How often to ask on a quiet channel. */
const IDLE_ASK_TICKS = 15;

export interface WatchDecision {
  /** Ask the other side for its state. */
  readonly sync: boolean;
  /** Why the channel cannot be saved. */
  readonly giveUp?: string;
}

/** Decides when to ask the other side for its state, and when to give it up. */
export class ChannelWatch {
  #silentTicks = 0;
  #sinceAsked = 0;
  /** Ticks since we learned that there is no subscriber; undefined while there is one. */
  #nobodyTicks: number | undefined;
  #probeTicks: number | undefined;
  /** Ticks for which the other side acknowledged and granted nothing, although we wait for it. */
  #stuckTicks = 0;
  #progress = 0;
  #askAfter = FIRST_ASK_TICKS;

  heard(): void {
    this.#silentTicks = 0;
    this.#nobodyTicks = undefined;
    this.#probeTicks = undefined;
  }

  nobody(): void {
    this.#nobodyTicks ??= 0;
  }

  probe(): void {
    this.#probeTicks ??= 0;
  }

  /** `progress` grows with everything the other side acknowledges or grants; `isWaiting`: we wait for that. */
  tick({ isWaiting, progress }: { isWaiting: boolean; progress: number }): WatchDecision {
    this.#silentTicks += 1;
    this.#sinceAsked += 1;
    if (this.#nobodyTicks !== undefined) this.#nobodyTicks += 1;
    if (this.#probeTicks !== undefined) this.#probeTicks += 1;
    const giveUp = this.#whyGiveUp();
    if (giveUp !== undefined) return { sync: false, giveUp };
    const sync = this.#isStuck(isWaiting, progress) || this.#isQuiet();
    if (sync) this.#sinceAsked = 0;
    return { sync };
  }

  #whyGiveUp(): string | undefined {
    if (this.#silentTicks > SILENCE_TICKS) return 'nothing arrived from the other side';
    if ((this.#nobodyTicks ?? 0) > NOBODY_TICKS) return 'the other side has left the bus';
    return (this.#probeTicks ?? 0) > PROBE_TICKS ? 'the other side did not answer' : undefined;
  }

  #isStuck(isWaiting: boolean, progress: number): boolean {
    if (!isWaiting || progress !== this.#progress) {
      this.#progress = progress;
      this.#stuckTicks = 0;
      this.#askAfter = FIRST_ASK_TICKS;
      return false;
    }
    this.#stuckTicks += 1;
    if (this.#stuckTicks < this.#askAfter || this.#sinceAsked < this.#askAfter) return false;
    this.#askAfter = Math.min(this.#askAfter * 2, MAX_ASK_TICKS);
    return true;
  }

  #isQuiet(): boolean {
    const limit = this.#nobodyTicks === undefined ? IDLE_ASK_TICKS : FIRST_ASK_TICKS;
    return this.#silentTicks >= limit && this.#sinceAsked >= limit;
  }
}
