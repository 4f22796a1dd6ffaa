import type { Sandbox } from '../protocol/index.js';
import type { FileWatch, MissingWatch, WatchOptions } from './file-watch.js';
import type { SearchPage, SearchQuery } from './file-search.js';

/** What every operation may be told. */
export interface FileOptions {
  /** What the operation may touch. Absent or null: everything. A policy that cannot be enforced is refused. */
  readonly sandbox?: Sandbox | null;
}

/** For operations that can be kept from following links. */
export interface LinkOptions extends FileOptions {
  /** False: no component of the path may be a link, not even one swapped in meanwhile. Default true. */
  readonly followSymlinks?: boolean;
}

/** For operations that make something. */
export interface PermissionOptions {
  /**
   * Permission bits (up to 0o777) that it has before there is anything in it, whatever it had before and whatever the
   * umask. Absent: as the machine does it.
   */
  readonly permissions?: number;
}

/** How a file is written. */
export interface WriteFileOptions extends LinkOptions, PermissionOptions {
  readonly atomic?: boolean;
  readonly exclusive?: boolean;
}

/** How a directory is made. One that is there gets the permissions, too. */
export interface CreateDirectoryOptions extends LinkOptions, PermissionOptions {
  readonly recursive?: boolean;
}

/** How a path is described. */
export interface MetadataOptions extends LinkOptions {
  /** Default false. */
  readonly details?: boolean;
}

/** How a file is opened. */
export interface OpenFileOptions extends FileOptions, PermissionOptions {
  /** `replace` creates or empties the file at once, `continue` writes on in one that is there. Default `read`. */
  readonly mode?: 'read' | 'replace' | 'continue';
  /** Do not wait for a far machine to open it: what is wrong is told by whatever is done with it. Default false. */
  readonly ahead?: boolean;
}

export interface FileMetadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** Whether the path itself is a link; everything else describes what it leads to. */
  readonly isSymlink: boolean;
  readonly size: number;
  /** 0 where the machine does not tell. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  /** Only with `details`: permission bits. */
  readonly mode?: number;
}

export interface DirectoryEntry {
  /** The name for display; bytes that are not UTF-8 show as U+FFFD. */
  readonly name: string;
  /** What to pass to other calls. */
  readonly path: string;
  /** Links count as what they lead to; a link that leads nowhere is neither directory nor file. */
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** Only with `details`. */
  readonly isSymlink?: boolean;
  /** Only with `details`: of the target, or of the link where it leads nowhere. */
  readonly size?: number;
  /** Only with `details`: permission bits. */
  readonly mode?: number;
}

export interface WalkOptions extends FileOptions {
  /** 0 lists only the entries of the directory itself. Default and maximum 64. */
  readonly maxDepth?: number;
  /** Default and maximum 10,000. */
  readonly maxDirectories?: number;
  /** Entries looked at, skipped ones included. Default and maximum 50,000. */
  readonly maxEntries?: number;
  /** Default false: links are left out altogether. */
  readonly followDirectorySymlinks?: boolean;
  /** List directories whose name starts with a dot, but do not enter them. Default false. */
  readonly pruneHiddenDirectories?: boolean;
}

export interface WalkResult {
  /** Breadth first, by name (bytewise) within a directory; the start itself is not listed. */
  readonly entries: readonly { readonly path: string; readonly kind: 'directory' | 'file' }[];
  /** Directories that could not be read. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** A limit was reached; there is more. */
  readonly truncated: boolean;
}

/** An open file. Reads and writes say where; there is no position to keep track of. */
export interface FileHandle extends AsyncDisposable {
  /**
   * Up to `length` bytes; fewer only at the end. `eof` is true when fewer were there. `into` may be used to hold them,
   * where it is given: it must be at least as long.
   */
  read(
    offset: number,
    length: number,
    into?: Uint8Array,
  ): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean }>;
  /** Writes all of it; holes before it read as zeros. */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Idempotent. Waits for reads and writes under way. */
  close(): Promise<void>;
  /**
   * Closes a file that was written and gives it this path, within its file system. A file there is replaced in one step.
   * Nothing is renamed if a write failed.
   */
  closeAs(path: string): Promise<void>;
}

/**
 * Files of some machine.
 *
 * Paths that go in are absolute, or `file:` URIs. Paths that come out are absolute, or `file:` URIs where the
 * bytes are not UTF-8; they can always be passed in again. `.` and `..` are resolved by name.
 *
 * A missing path is `notFound`, refused access `permissionDenied`, the wrong kind of file `invalidFile`,
 * anything else the system says `ioFailed`.
 */
export interface FileSystem {
  /** The whole of a regular file, up to 512 MiB. Larger ones: `open`. */
  readFile(path: string, options?: LinkOptions): Promise<Uint8Array>;
  /**
   * Creates or replaces a file; its directory must exist. `atomic`: readers see the old or the new content
   * and nothing between, and a failed write leaves the old one. Hard links to the old file keep the old content.
   * `exclusive`: only where nothing is yet, not even a link; the file appears when it is whole.
   */
  writeFile(path: string, data: Uint8Array | string, options?: WriteFileOptions): Promise<void>;
  /** `recursive` (default true): parents are made too, and an existing directory is fine. */
  createDirectory(path: string, options?: CreateDirectoryOptions): Promise<void>;
  getMetadata(path: string, options?: MetadataOptions): Promise<FileMetadata>;
  /** The path without links. It must exist. */
  canonicalize(path: string, options?: FileOptions): Promise<string>;
  /** Up to 50,000 entries, in no order. */
  readDirectory(
    path: string,
    options?: FileOptions & { readonly details?: boolean },
  ): Promise<readonly DirectoryEntry[]>;
  walk(path: string, options?: WalkOptions): Promise<WalkResult>;
  /**
   * Removes a file, a link (never what it leads to) or a directory. `recursive` and `force` (a missing path is
   * fine) are true by default. `followSymlinks: false` needs `recursive: false`.
   */
  remove(
    path: string,
    options?: LinkOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>;
  /** Files keep their permissions and overwrite; links are copied as links; directories merge and need `recursive`. */
  copy(
    source: string,
    destination: string,
    options?: FileOptions & { readonly recursive?: boolean },
  ): Promise<void>;
  /** Moves within one file system; a file at the destination is replaced in one step. */
  rename(source: string, destination: string, options?: FileOptions): Promise<void>;
  /** Only regular files. */
  open(path: string, options?: OpenFileOptions): Promise<FileHandle>;
  /**
   * Waits for one of the missing paths, or the first missing directory on the way to it, to appear, or for
   * `present` to change or go. Null when there is nothing to wait for: one exists already, or `present` does not.
   */
  watchMissing(
    missing: readonly string[],
    options?: { readonly present?: string | null; readonly signal?: AbortSignal },
  ): Promise<MissingWatch | null>;
  /** Changes of a file (also one that is replaced or missing for a while) or of a directory. */
  watch(path: string, options?: WatchOptions): Promise<FileWatch>;
  /** Lines that match, in files below a directory or in one file. Binary files are skipped. */
  search(path: string, query: SearchQuery): Promise<SearchPage>;
}
