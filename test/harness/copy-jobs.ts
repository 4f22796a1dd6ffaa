import { type CopyObserver } from '../../src/copy/index.js';
import { BlockPool } from '../../src/copy/block-pool.js';
import { type CopyManner } from '../../src/copy/copy-path.js';
import { Drafts } from '../../src/copy/copy-draft.js';
import { LineBudget } from '../../src/copy/line-budget.js';
import { Persistence } from '../../src/copy/persistence.js';
import { type TreeCopyJob } from '../../src/copy/copy-tree.js';

const ignore = (): undefined => undefined;
const fail = (error: Error): never => {
  throw error;
};

/** A copy of a tree that nobody follows, between machines of ours unless told otherwise. */
export function treeJob(
  machine: Partial<Pick<TreeCopyJob, 'writesAtomically' | 'placesFiles' | 'keepsLinksAndTimes'>> = {},
): TreeCopyJob {
  const { signal } = new AbortController();
  return {
    drafts: new Drafts({ renames: true, signal }),
    signal,
    writesBlocks: true,
    writesAtomically: true,
    placesFiles: true,
    keepsLinksAndTimes: true,
    followLinks: false,
    bytes: new LineBudget(),
    blockPool: new BlockPool(1024 * 1024),
    persistence: new Persistence(),
    protect: async () => undefined,
    onBytes: ignore,
    onFollowed: ignore,
    onFile: ignore,
    onDirectory: ignore,
    onSkipped: ignore,
    onFailed: fail,
    ...machine,
  };
}

/** Nobody who looks on while something is copied. */
export function noObserver(): CopyObserver & CopyManner {
  return {
    signal: new AbortController().signal,
    followLinks: false,
    onTotal: ignore,
    onBytes: ignore,
    onFile: ignore,
    onSkipped: ignore,
    onFailed: fail,
    onFollowed: ignore,
  };
}
