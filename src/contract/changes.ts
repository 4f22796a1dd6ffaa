import type { ChangeCounts, HeldChange } from '../protocol/index.js';

/** One thing that programs have changed, with its path as text, or as a `file:` URI if it is not UTF-8. */
export type { ChangeCounts, HeldChange };

/** A set of held changes in a list. */
export interface ChangeSetInfo {
  readonly changesId: string;
  /** `session`: it ends with the environment. `kept`: it stays until it is applied or discarded. */
  readonly lease: 'session' | 'kept';
  readonly createdAtMs: number;
  /** The directories whose changes are held. */
  readonly roots: readonly string[];
  /** How many programs run in it. */
  readonly running: number;
  /** What it took up on disk when it was last measured, if the machine reports it. */
  readonly bytes?: number | undefined;
  /** Likewise, in files and directories. */
  readonly files?: number | undefined;
  /** It is full: its programs were ended, and no other starts. */
  readonly isFull?: boolean | undefined;
}

export interface ListChangesOptions {
  /** Only paths that match. A relative pattern matches below any directory of the set. */
  readonly glob?: string;
  /** Changes on a page. Default 1,000. */
  readonly limit?: number;
  /** From the previous page. */
  readonly cursor?: string | null;
}

export interface ChangesPage {
  /** A directory comes before what is in it. */
  readonly changes: readonly HeldChange[];
  /** Of everything that matches. */
  readonly counts: ChangeCounts;
  /** Null on the last page. */
  readonly cursor: string | null;
}

export interface DiffChangesOptions {
  /** Only what is at or below these paths. */
  readonly paths?: readonly string[];
  /** Default 3. */
  readonly contextLines?: number;
  /** Bytes on a page. Default 1 MiB. */
  readonly maxBytes?: number;
  readonly cursor?: string | null;
}

/** A change as a patch. */
export interface ChangeDiff {
  readonly path: string;
  readonly kind: HeldChange['kind'];
  /** In the form that git prints. */
  readonly text: string;
  /** Why the text does not show the content. */
  readonly omitted: 'binary' | 'tooLarge' | null;
}

export interface DiffPage {
  readonly diffs: readonly ChangeDiff[];
  readonly cursor: string | null;
}

export interface ReadChangeOptions {
  readonly side: 'held' | 'base';
  readonly offset?: number;
  /** At most 4 MiB. */
  readonly maxBytes?: number;
}

export interface ApplyChangesOptions {
  /** Only what is at or below these paths. */
  readonly paths?: readonly string[];
  /** What to do about files that somebody else has changed in the meantime. Default `refuse`: apply nothing. */
  readonly onConflict?: 'refuse' | 'skip' | 'overwrite';
}

export interface AppliedChanges {
  readonly applied: ChangeCounts;
  /** What was not applied because somebody else has changed it. */
  readonly conflicts: readonly HeldChange[];
}

/** What programs have changed under a policy that holds changes. The files themselves are as they were. */
export interface ChangeSet {
  readonly changesId: string;
  list(options?: ListChangesOptions): Promise<ChangesPage>;
  /** Part of a file on one side; for a link, its target. */
  read(
    path: string,
    options: ReadChangeOptions,
  ): Promise<{ readonly bytes: Uint8Array; readonly size: number; readonly eof: boolean }>;
  diff(options?: DiffChangesOptions): Promise<DiffPage>;
  /** Applies the held changes to the files: all or nothing, unless told otherwise. */
  apply(options?: ApplyChangesOptions): Promise<AppliedChanges>;
  /** Forgets the set and everything in it. */
  discard(): Promise<void>;
}

/** What a set holds after it may have grown. */
export interface ChangesUpdate {
  readonly changesId: string;
  readonly counts: ChangeCounts;
  readonly running: number;
}

/** How much room held changes may take. */
export interface ChangesLimits {
  /** Bytes on disk in one set. Default 8 GiB. */
  readonly maxSetBytes: number;
  /** Files, directories and everything else with a name in one set. Default 500,000. */
  readonly maxSetFiles: number;
  /** Bytes on disk in all sets together. Default 32 GiB. */
  readonly maxTotalBytes: number;
  /** Files in all sets together. Default 2,000,000. */
  readonly maxTotalFiles: number;
}
