/** How long one stream may block others. The time it has used is restored at a fifth of that pace. */
const PATIENCE_MS = 10_000;
const RECOVERY = 1 / 5;
const LOOK_MS = 500;

/** A stream that cannot take more for now. */
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
  /** Called when it has blocked the others for too long. */
  readonly evict: (stream: Stream) => void;
}

/**
 * One line carries many streams that have no flow control of their own, so a stream that cannot take more blocks all of them.
 * Alone on the line, it may do so indefinitely; with others, only for a while.
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
    // A stream that was alone kept no other waiting.
    if (this.#options.streams() > 1) hold.usedMs += now - hold.since;
    hold.usedAt = now;
    hold.since = null;
    this.#holding -= 1;
    if (this.#holding > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.resume();
  }

  /** Call when the stream is gone. */
  forget(stream: Stream): void {
    this.release(stream);
    this.#holds.delete(stream);
  }

  /** Call when the line is gone. */
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
