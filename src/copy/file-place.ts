import type { FileMetadata, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import type { FirstBlocks } from './copy-blocks.js';

/** A file on some machine. */
export interface FilePlace {
  readonly files: FileSystem;
  readonly path: string;
  /** The id of the machine; absent for this one. */
  readonly machine?: string;
}

/** The destination of one entry. */
export interface Destination extends FilePlace {
  /** True if nothing had this name when it was last checked. */
  readonly isFree?: boolean;
  /** The existing entry, if known. */
  readonly existing?: FileMetadata | undefined;
  /** True if its name comes from the other machine's listing. An existing link of that name is replaced and never followed. */
  readonly isListed?: boolean;
  /** Called when the last request for this entry has been sent: any later request takes effect after it. */
  readonly onSent?: () => void;
  /** Resolves when its directory exists, and rejects if that could not be created. */
  readonly directory?: Promise<void>;
}

/** The source of a copy. `mode` and `modifiedAtUs` if its machine reports them. */
export interface Original extends FilePlace {
  readonly mode?: number | undefined;
  readonly modifiedAtUs?: number | undefined;
  /** The beginning of the file, if requested before its metadata was known. */
  readonly firstBlocks?: FirstBlocks | undefined;
}

/** Adds the place to the message of an error, because the system's own message does not name it. */
export async function withPathInError<Value>(
  { machine, path }: FilePlace,
  work: Promise<Value>,
): Promise<Value> {
  return await work.catch((cause: unknown) => {
    if (!isExecError(cause)) throw cause;
    const place = machine === undefined ? path : `${machine}:${path}`;
    throw new ExecError(cause.code, `${place}: ${cause.message}`, { data: cause.data, cause });
  });
}
