import type { FileOptions } from './file-system.js';

export interface WatchOptions extends FileOptions {
  /** Watch everything below a directory as well. Default false. */
  readonly recursive?: boolean;
  /** Collect changes until this time has passed since the first one. Default 0: hand them out at once. */
  readonly debounceMs?: number;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** A path appears at most once in a batch, with what became of it last. */
export interface FileChange {
  readonly path: string;
  /** `changed`: there is something, created, replaced or written to. `removed`: there is nothing any more. */
  readonly kind: 'changed' | 'removed';
}

/** What happened since the last batch. */
export interface FileChanges {
  readonly changes: readonly FileChange[];
  /** Changes were too many to keep and some are not listed: look at everything again. */
  readonly overflow: boolean;
}

/** A running watch. Changes that nobody takes are merged by path; past a limit they become an overflow. */
export interface FileWatch extends AsyncIterable<FileChanges>, AsyncDisposable {
  /** What is watched, without links where it existed. */
  readonly path: string;
  /** Idempotent. Iteration ends. */
  close(): Promise<void>;
}

/** A wait for paths that do not exist. */
export interface MissingWatch extends AsyncDisposable {
  /** True once something changed, false when the watch was closed before. Never rejects. */
  readonly changed: Promise<boolean>;
  /** Idempotent. */
  close(): Promise<void>;
}
