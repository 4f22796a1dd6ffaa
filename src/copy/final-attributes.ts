import type { CreateDirectoryOptions } from '../contract/index.js';
import { Budget } from './budget.js';
import type { CopyJob } from './copy-job.js';
import { type Destination, type Original, withPathInError } from './file-place.js';
import { permissionsOf } from './permissions.js';
import { timeOf } from './place-file.js';

/** How many directories get their permissions and times again concurrently. */
const AT_A_TIME = 512;

/** A source directory and its copy. */
interface Pair {
  readonly from: Original;
  readonly to: Destination;
}

/**
 * Sets what a directory can only get after its contents: permissions that would prevent filling it, and times, which
 * change with every entry created in it.
 */
export class FinalAttributes {
  readonly #job: CopyJob;
  readonly #done: { readonly to: Destination; readonly options: CreateDirectoryOptions }[] = [];

  constructor(job: CopyJob) {
    this.#job = job;
  }

  async set({ from, to }: Pair, onSent: (() => void) | undefined): Promise<void> {
    if (!this.#job.placesFiles) return;
    const options = {
      ...(hasFinalPermissions({ from, to }) ? {} : permissionsOf(from.mode)),
      ...timeOf(from, this.#job),
    };
    if (Object.keys(options).length === 0) return;
    this.#done.push({ to, options });
    await this.#request(to, options, onSent);
  }

  /** Repeats it for every directory if a lost connection may have delayed a request past the one that should be last. */
  async setAgain(): Promise<void> {
    if (!this.#job.persistence.wasCut) return;
    const room = new Budget(AT_A_TIME);
    // Inner directories first: once the outer one has its permissions, we may no longer reach them.
    const again = this.#done
      .toReversed()
      .map(({ to, options }) => room.spend(1, () => this.#request(to, options)));
    await Promise.all(again);
  }

  async #request(to: Destination, options: CreateDirectoryOptions, onSent?: () => void): Promise<void> {
    const set = async (): Promise<void> => {
      const done = to.files.createDirectory(to.path, options);
      onSent?.();
      await done;
    };
    await withPathInError(to, this.#job.persistence.run(set));
  }
}

/** Whether the directory was already created with its final permissions. */
function hasFinalPermissions({ from, to }: Pair): boolean {
  return to.isFree === true && isOpen(from);
}

/** Whether the owner of a directory with these permissions can read and change it. */
export function isOpen({ mode }: Original): boolean {
  return mode !== undefined && (mode & 0o700) === 0o700;
}
