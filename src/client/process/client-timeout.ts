import type { ProcessFeed } from './process-feed.js';
import { after } from '../../protocol/max-timer.js';

/** 128 + SIGKILL: the exit code to assume if the answer to our kill was lost. */
const KILLED_EXIT_CODE = 137;

/** A time limit enforced by the client, for servers that do not support one. */
export class ClientTimeout {
  readonly #feed: ProcessFeed;
  readonly #terminate: () => Promise<boolean>;
  readonly #stop: () => void;

  constructor(options: { timeoutMs: number; feed: ProcessFeed; terminate: () => Promise<boolean> }) {
    this.#feed = options.feed;
    this.#terminate = options.terminate;
    this.#stop = after(options.timeoutMs, () => void this.#expire());
  }

  clear(): void {
    this.#stop();
  }

  /** The exit is withheld until the server says whether we caused it: the process may have exited just before. */
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
