import type { ExecParsedParams } from '../../protocol/index.js';
import type { MissingWatchSlot } from '../handlers/missing-watch.js';

/** What a connection has besides its session, and what becomes of that if another server continues with it. */
export class Belongings {
  readonly #some: (() => boolean)[] = [];
  #missing: MissingWatchSlot | undefined;

  /** `something`: returns whether the connection now has something that another server could not continue with. */
  readonly owns = (something: () => boolean): void => void this.#some.push(something);

  readonly watchesMissing = (slot: MissingWatchSlot): void => {
    this.#missing = slot;
  };

  get canBeLeft(): boolean {
    return !this.#some.some((has) => has());
  }

  /** The `fs/watchMissing` that another server has to repeat. */
  get missingWatch(): ExecParsedParams<'fs/watchMissing'> | null {
    return this.#missing?.watched ?? null;
  }

  /** Resolves to false if that is impossible, or something has changed since the server before left. */
  async watchAgain(params: ExecParsedParams<'fs/watchMissing'>): Promise<boolean> {
    const answer = await this.#missing?.watch(params).catch(() => null);
    return answer?.watching ?? false;
  }
}
