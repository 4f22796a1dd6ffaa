import { ExecError } from '../protocol/index.js';
import type { Run } from './run.js';

/** Maximum running programs per connection and table. */
export const MAX_RUNS = 1024;

export interface RunTableWording {
  inUse(id: string): string;
  unknown(id: string): string;
}

/** The running programs of one connection, by the client's ids. */
export class RunTable {
  readonly #wording: RunTableWording;
  readonly #runs = new Map<string, Run>();
  #count = 0;

  constructor(wording: RunTableWording) {
    this.#wording = wording;
  }

  get(id: string): Run {
    const run = this.#runs.get(id);
    if (!run) throw new ExecError('processNotFound', this.#wording.unknown(id));
    return run;
  }

  /**
   * Adds what `start` returns until it ends, or until what `reported` returns has settled. Starts with the same id must
   * not overlap: lanes ensure that.
   */
  async add(
    id: string | undefined,
    start: () => Promise<Run>,
    reported: (run: Run) => Promise<unknown> = (run) => run.ended,
  ): Promise<Run> {
    if (id !== undefined && this.#runs.has(id)) {
      throw new ExecError('processIdInUse', this.#wording.inUse(id));
    }
    if (this.#count >= MAX_RUNS) {
      throw new ExecError('tooManyProcesses', 'Server overloaded; retry later.');
    }
    this.#count += 1;
    const remove = (): void => {
      this.#count -= 1;
      if (id !== undefined) this.#runs.delete(id);
    };
    try {
      const run = await start();
      if (id !== undefined) this.#runs.set(id, run);
      // Registered before anything else waits for the end, so that the id is free when the client learns of it.
      reported(run).then(remove, remove);
      return run;
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }
}
