import { openPlace } from './exact-path.js';
import type { Mount } from './mount-plan.js';

/** How this server reaches files as a sandboxed program sees them. */
export interface FileView {
  /** Distinguishes views. Empty for the machine's own files. */
  readonly id: string;
  /** A path by which we reach what the program sees at `path`. */
  reach(path: string): string;
  reachBytes(path: Buffer): Buffer;
  /** An `O_PATH` descriptor of a place without a link on the way. Throws the kernel's error. */
  open(path: string): number;
}

/** The machine's own files. */
export const hostView: FileView = {
  id: '',
  reach: (path) => path,
  reachBytes: (path) => path,
  open: openPlace,
};

/** Files of which some directories are shown with changes that the machine's own files do not have. */
export interface HeldView extends FileView {
  /** Arguments of `nsenter`: the namespaces in which the changed directories are mounted. */
  readonly enter: readonly string[];
  /** What to mount at `path`, as a path in those namespaces. */
  sourceOf(path: string): string;
  /** Mount points below the changed directories, each of which needs a mount of its own. */
  readonly mountPoints: readonly string[];
  /** False once these files are about to go. */
  readonly isThere: boolean;
  /**
   * Calls `end` when these files are about to go, or when somebody has replaced one of these places below, which would not show as
   * long as they are in use. Returns an unsubscribe function.
   */
  onEnd(end: () => Promise<void>, places: readonly Mount[]): () => void;
}
