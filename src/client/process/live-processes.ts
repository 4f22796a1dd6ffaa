import type { ProcessSummary } from '../../contract/index.js';
import type { RemoteProcess } from './remote-process.js';

/** The processes that an environment has started or attached to. Finished ones are forgotten in bulk. */
export class LiveProcesses {
  readonly #processes = new Set<RemoteProcess>();

  add(process: RemoteProcess): RemoteProcess {
    this.#forgetFinished();
    this.#processes.add(process);
    return process;
  }

  /** What is known of them locally. */
  rows(): ProcessSummary[] {
    this.#forgetFinished();
    return [...this.#processes].map((process) => process.summary());
  }

  /**
   * Ends those that run and waits for their last events. A server out of reach ends them when the session's lease
   * expires.
   */
  async end(): Promise<void> {
    this.#forgetFinished();
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
  }

  #forgetFinished(): void {
    for (const process of this.#processes) if (!process.live) this.#processes.delete(process);
  }
}
