import type { BlockPool } from './block-pool.js';
import type { Drafts } from './copy-draft.js';
import type { LineBudget } from './line-budget.js';
import type { Persistence } from './persistence.js';

/** The most content one message carries. */
export const BLOCK_BYTES = 1024 * 1024;

/** State and capabilities shared by all parts of one copy. */
export interface CopyJob {
  readonly drafts: Drafts;
  /** Cancels the copy. */
  readonly signal: AbortSignal;
  /** Whether files can be written block by block at the destination. */
  readonly writesBlocks: boolean;
  /** Whether the destination writes a small file atomically in one request, and is far enough away that saving requests pays. */
  readonly writesAtomically: boolean;
  /** Whether the destination can create a file, set its permissions and move it into place without waiting for answers. */
  readonly placesFiles: boolean;
  /** Whether the destination can store modification times and links. */
  readonly keepsLinksAndTimes: boolean;
  /** Whether to copy the targets of links instead of the links. */
  readonly followLinks: boolean;
  /** Whether to leave existing files and links alone. */
  readonly keepExisting?: boolean;
  /** Bounds the content in flight. */
  readonly bytes: LineBudget;
  /** Reusable memory to read content into. */
  readonly blockPool: BlockPool;
  readonly persistence: Persistence;
  /** Sets the permissions of a private file or directory before it has any content. */
  readonly protect: (path: string, mode: number) => Promise<void>;
  /** Called when a link is followed because one of the machines cannot report or create links. */
  readonly onFollowed: () => void;
  /** Called with the number of bytes that have arrived since the last call. */
  readonly onBytes: (bytes: number) => void;
}
