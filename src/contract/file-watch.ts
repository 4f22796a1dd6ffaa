import type { FileOptions } from './file-system.js';

export interface WatchOptions extends FileOptions {
  /** Also watch everything below a directory. Default false. */
  readonly recursive?: boolean;
  /** Collect changes for this long after the first one. Default 0: report immediately. */
  readonly debounceMs?: number;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/** A path appears at most once per batch, with its latest state. */
export interface FileChange {
  readonly path: string;
  /** `changed`: it exists and was created, replaced or written to. `removed`: it no longer exists. */
  readonly kind: 'changed' | 'removed';
}

/** The changes since the previous batch. */
export interface FileChanges {
  readonly changes: readonly FileChange[];
  /** There were too many changes to list them all: check everything again. */
  readonly overflow: boolean;
}

/** An active watch. Changes that are not consumed are merged by path; beyond a limit they become an overflow. */
export interface FileWatch extends AsyncIterable<FileChanges>, AsyncDisposable {
  /** The watched path, with links resolved if it existed. */
  readonly path: string;
  /** Idempotent. Iteration ends. */
  close(): Promise<void>;
}

/** Waits for paths that do not exist. */
export interface MissingWatch extends AsyncDisposable {
  /** True once something changed, false if the watch was closed first. Never rejects. */
  readonly changed: Promise<boolean>;
  /** Idempotent. */
  close(): Promise<void>;
}
