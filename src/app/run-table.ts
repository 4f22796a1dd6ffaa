import { ExecError } from '../protocol/index.js';
import type { Run } from './run.js';

/** Programs one connection may have running in one name space. */
export const MAX_RUNS = 1024;

export interface RunTableWording {
  inUse(id: string): string;
  unknown(id: string): string;
}

/** The running programs of one connection under the names the client gave them. */
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

  /** Adds what `start` makes until it has ended. Starts under one id must not overlap: lanes see to that. */
  async add(id: string | undefined, start: () => Promise<Run>): Promise<Run> {
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
      // Registered before anybody else waits for the end, so that the id is free when the client hears of it.
      run.ended.then(remove, remove);
      return run;
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
  }
}
