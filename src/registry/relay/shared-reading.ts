/** For how long one stream may hold up others. What it has used comes back at a fifth of that pace. */
const PATIENCE_MS = 10_000;
const RECOVERY = 1 / 5;
const LOOK_MS = 500;

/** Somebody who cannot take more for now. */
interface Hold {
  since: number | null;
  usedMs: number;
  usedAt: number;
}

export interface SharedReadingOptions<Stream> {
  readonly pause: () => void;
  readonly resume: () => void;
  /** How many streams share the line. */
  readonly streams: () => number;
  /** It has held up the others for too long. */
  readonly evict: (stream: Stream) => void;
}

/**
 * One line carries many streams, and the streams have no windows of their own. So whoever cannot take more stops reading for
 * all. Alone on the line, it may do so for ever; if there are others, only for a while.
 */
export class SharedReading<Stream> {
  readonly #options: SharedReadingOptions<Stream>;
  readonly #holds = new Map<Stream, Hold>();
  #holding = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SharedReadingOptions<Stream>) {
    this.#options = options;
  }

  get isPaused(): boolean {
    return this.#holding > 0;
  }

  hold(stream: Stream): void {
    const now = performance.now();
    const hold = this.#holds.get(stream) ?? { since: null, usedMs: 0, usedAt: now };
    if (hold.since !== null) return;
    hold.usedMs = Math.max(0, hold.usedMs - (now - hold.usedAt) * RECOVERY);
    hold.since = now;
    this.#holds.set(stream, hold);
    this.#holding += 1;
    if (this.#holding === 1) this.#options.pause();
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  release(stream: Stream): void {
    const hold = this.#holds.get(stream);
    if (!hold || hold.since === null) return;
    const now = performance.now();
    // Nobody had to wait for the only one there was.
    if (this.#options.streams() > 1) hold.usedMs += now - hold.since;
    hold.usedAt = now;
    hold.since = null;
    this.#holding -= 1;
    if (this.#holding > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.resume();
  }

  /** The stream is gone. */
  forget(stream: Stream): void {
    this.release(stream);
    this.#holds.delete(stream);
  }

  /** The line is gone. */
  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const isAlone = this.#options.streams() <= 1;
    for (const [stream, hold] of this.#holds) {
      if (hold.since === null) continue;
      if (isAlone) hold.since = now;
      else if (hold.usedMs + now - hold.since > PATIENCE_MS) this.#options.evict(stream);
    }
  }
}
