import type { ProcessFeed } from './process-feed.js';
import { MAX_TIMER_MS } from '../../protocol/max-timer.js';

/** 128 + SIGKILL: what an exit by our kill looks like where the answer to it got lost. */
const KILLED_EXIT_CODE = 137;

/** A time limit kept on this side, for servers that keep none. */
export class ClientTimeout {
  readonly #feed: ProcessFeed;
  readonly #terminate: () => Promise<boolean>;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: { timeoutMs: number; feed: ProcessFeed; terminate: () => Promise<boolean> }) {
    this.#feed = options.feed;
    this.#terminate = options.terminate;
    if (options.timeoutMs > MAX_TIMER_MS) return;
    this.#timer = setTimeout(() => void this.#expire(), options.timeoutMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  /** The exit is held back until the server says whether it was our doing: it may have come just before. */
  async #expire(): Promise<void> {
    if (this.#feed.log.exit) return;
    this.#feed.holdExit();
    const killed = await this.#terminate().catch(() => false);
    this.#feed.releaseExit((facts) => ({
      ...facts,
      timedOut: killed || facts.exitCode === KILLED_EXIT_CODE,
    }));
  }
}
