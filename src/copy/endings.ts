import type { CreateDirectoryOptions } from '../contract/index.js';
import { Budget } from './budget.js';
import { type CopyJob, type Destination, type Original, withPathInError } from './copy-file.js';
import { permissionsOf, timeOf } from './place-file.js';

/** Directories given their permissions and times again at a time. */
const AT_A_TIME = 512;

/** A directory, and where it goes. */
interface Pair {
  readonly from: Original;
  readonly to: Destination;
}

/**
 * What directories get once everything in them was asked for: permissions that could be in the way before, and times, which
 * change with everything that is put into a directory.
 */
export class Endings {
  readonly #job: CopyJob;
  readonly #ended: { readonly to: Destination; readonly options: CreateDirectoryOptions }[] = [];

  constructor(job: CopyJob) {
    this.#job = job;
  }

  async end({ from, to }: Pair, onSent: (() => void) | undefined): Promise<void> {
    if (!this.#job.places) return;
    const options = {
      ...(isMadeSo({ from, to }) ? {} : permissionsOf(from.mode)),
      ...timeOf(from, this.#job),
    };
    if (Object.keys(options).length === 0) return;
    this.#ended.push({ to, options });
    await this.#set(to, options, onSent);
  }

  /** Does it once more for all of them, if something may have come after what should have been the last. */
  async again(): Promise<void> {
    if (!this.#job.persistence.wasCut) return;
    const room = new Budget(AT_A_TIME);
    // What is within a directory first: afterwards it may be closed to us.
    const again = this.#ended
      .toReversed()
      .map(({ to, options }) => room.spend(1, () => this.#set(to, options)));
    await Promise.all(again);
  }

  async #set(to: Destination, options: CreateDirectoryOptions, onSent?: () => void): Promise<void> {
    const set = async (): Promise<void> => {
      const done = to.files.createDirectory(to.path, options);
      onSent?.();
      await done;
    };
    await withPathInError(to, this.#job.persistence.run(set));
  }
}

/** Whether a directory is made with the permissions it is to have. */
function isMadeSo({ from, to }: Pair): boolean {
  return to.isFree === true && isOpen(from);
}

/** Whether its owner can do everything in a directory that has the same permissions. */
export function isOpen({ mode }: Original): boolean {
  return mode !== undefined && (mode & 0o700) === 0o700;
}
