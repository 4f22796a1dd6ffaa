/** How long a closed channel waits without any progress for the other side to take the rest and confirm the end. */
const CLOSE_GRACE_TICKS = 50;

/** Decides when a closed channel has waited long enough. */
export class CloseGrace {
  #ticks = 0;
  #progress = 0;

  /** Called with every tick after the close. */
  isOver(progress: number): boolean {
    this.#ticks = progress === this.#progress ? this.#ticks + 1 : 0;
    this.#progress = progress;
    return this.#ticks > CLOSE_GRACE_TICKS;
  }
}
