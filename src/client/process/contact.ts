import type { ExecClient } from '../connection/exec-client.js';
import type { RemoteOutput } from './remote-output.js';

export interface ContactOptions {
  readonly client: ExecClient;
  readonly output: RemoteOutput;
  /** It continues without us, so it can be found again in another session. */
  readonly isKept: boolean;
}

/** Whether a process on a server can be asked for anything. */
export class Contact {
  readonly #options: ContactOptions;

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /** A process with a lease is found again when the client is back: until then nothing can be asked of it. */
  get isAway(): boolean {
    const { client, output, isKept } = this.#options;
    return isKept && (!client.isOnline || output.feed.rejoining !== undefined);
  }

  /**
   * Resolves when the process is within reach. Throws why if it never will be. Await it only while the process is away:
   * otherwise a request would be overtaken by the next.
   */
  async established(): Promise<void> {
    const { client, output } = this.#options;
    // Why there is no connection is in the log.
    while (this.isAway && output.live) await (output.feed.rejoining ?? client.ready()).catch(() => undefined);
    this.assert();
  }

  /** Throws if contact was lost for good. */
  assert(): void {
    const { failure } = this.#options.output.feed.log;
    if (failure) throw failure;
  }
}
