import type { Sandbox } from '../protocol/index.js';
import type { FileWatch, MissingWatch, WatchOptions } from './file-watch.js';
import type { SearchPage, SearchQuery } from './file-search.js';

/** Options of every operation. */
export interface FileOptions {
  /** What the operation may access. Absent or null: everything. A policy that cannot be enforced is refused. */
  readonly sandbox?: Sandbox | null;
}

/** Options of operations that can refuse to follow links. */
export interface LinkOptions extends FileOptions {
  /** False: no component of the path may be a link, not even one swapped in concurrently. Default true. */
  readonly followSymlinks?: boolean;
}

/** Options of operations that create something. */
export interface PermissionOptions {
  /**
   * Permission bits (up to 0o777), in effect before it has any content, whatever its earlier bits and the umask. Absent:
   * the machine's default.
   */
  readonly permissions?: number;
}

/** Options of operations that set a modification time. */
export interface TimeOptions {
  /** Its modification time, in microseconds since 1970. Absent: now. */
  readonly modifiedAtUs?: number;
}

/** How a file is written. */
export interface WriteFileOptions extends LinkOptions, PermissionOptions, TimeOptions {
  readonly atomic?: boolean;
  readonly exclusive?: boolean;
}

/** How a directory is created. An existing one gets the permissions and the time, too. */
export interface CreateDirectoryOptions extends LinkOptions, PermissionOptions, TimeOptions {
  readonly recursive?: boolean;
}

/** How a symbolic link is created. */
export interface CreateSymlinkOptions extends LinkOptions, TimeOptions {
  /** Replaces a file or a link that is there, in one step; never a directory. Default false. */
  readonly replace?: boolean;
}

/** How something is copied within a machine. */
export interface CopyOptions extends FileOptions {
  /** Default false. */
  readonly recursive?: boolean;
  /** Keep modification times. Default false. */
  readonly keepTimes?: boolean;
}

/** How a path is described. */
export interface MetadataOptions extends LinkOptions {
  /** Default false. */
  readonly details?: boolean;
}

/** How a file is opened. */
export interface OpenFileOptions extends FileOptions, PermissionOptions {
  /** `replace` creates or empties the file immediately, `continue` writes to an existing one. Default `read`. */
  readonly mode?: 'read' | 'replace' | 'continue';
  /** Do not wait for a distant machine to open it: problems are reported by the operations that follow. Default false. */
  readonly ahead?: boolean;
}

/** A symbolic link itself. */
export interface LinkDetails {
  /** Its target, byte for byte: it need not be UTF-8, nor exist. */
  readonly target: Uint8Array;
  readonly modifiedAtUs: number;
}

export interface FileMetadata {
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** Whether the path itself is a link; everything else describes its target. */
  readonly isSymlink: boolean;
  readonly size: number;
  /** 0 if the machine does not report it. */
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  /** Only with `details`: permission bits. */
  readonly mode?: number;
  /** Only with `details`: microseconds since 1970. */
  readonly modifiedAtUs?: number;
  /** Only with `details`: the link itself, if the path is one. */
  readonly link?: LinkDetails;
}

export interface DirectoryEntry {
  /** The name for display; bytes that are not UTF-8 appear as U+FFFD. */
  readonly name: string;
  /** The path to pass to other calls. */
  readonly path: string;
  /** Links count as their target; a dangling link is neither directory nor file. */
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  /** Only with `details`. */
  readonly isSymlink?: boolean;
  /** Only with `details`: of the target, or of the link itself if it is dangling. */
  readonly size?: number;
  /** Only with `details`: permission bits. */
  readonly mode?: number;
  /** Only with `details`: of the target, in microseconds since 1970. */
  readonly modifiedAtUs?: number;
  /** Only with `details`: the link itself, if it is one. */
  readonly link?: LinkDetails;
}

export interface WalkOptions extends FileOptions {
  /** 0 lists only the directory's own entries. Default and maximum 64. */
  readonly maxDepth?: number;
  /** Default and maximum 10,000. */
  readonly maxDirectories?: number;
  /** Entries visited, including skipped ones. Default and maximum 50,000. */
  readonly maxEntries?: number;
  /** Default false: links are omitted. */
  readonly followDirectorySymlinks?: boolean;
  /** List directories whose name starts with a dot, but do not enter them. Default false. */
  readonly pruneHiddenDirectories?: boolean;
}

export interface WalkResult {
  /** Breadth first, sorted by name (bytewise) within a directory; the start itself is not listed. */
  readonly entries: readonly { readonly path: string; readonly kind: 'directory' | 'file' }[];
  /** Directories that could not be read. */
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** A limit was reached and there is more. */
  readonly truncated: boolean;
}

/** An open file. Reads and writes take an offset; there is no current position. */
export interface FileHandle extends AsyncDisposable {
  /**
   * Reads up to `length` bytes; fewer only at the end of the file, and `eof` is then true. If `into` is given, it may
   * be used to hold them and must be at least that long.
   */
  read(
    offset: number,
    length: number,
    into?: Uint8Array,
  ): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean }>;
  /** Writes all bytes; gaps before them read as zeros. */
  write(offset: number, bytes: Uint8Array): Promise<void>;
  /** Idempotent. Waits for reads and writes in progress. */
  close(): Promise<void>;
  /**
   * Closes a file that was written and gives it this path, within its file system. A file there is replaced in one step.
   * Nothing is renamed if a write failed.
   */
  closeAs(path: string, options?: TimeOptions): Promise<void>;
}

/**
 * Files on some machine.
 *
 * Paths passed in are absolute, or `file:` URIs. Paths returned are absolute, or `file:` URIs where the bytes are not
 * UTF-8; they can always be passed back in. `.` and `..` are resolved lexically.
 *
 * A missing path is `notFound`, refused access `permissionDenied`, the wrong kind of file `invalidFile`, any other
 * system error `ioFailed`.
 */
export interface FileSystem {
  /** Reads a whole regular file, up to 512 MiB. For larger ones use `open`. */
  readFile(path: string, options?: LinkOptions): Promise<Uint8Array>;
  /**
   * Creates or replaces a file; its directory must exist. `atomic`: readers see either the old or the new content, and
   * a failed write keeps the old one. Hard links to the old file keep the old content. `exclusive`: fails if the path
   * exists, even as a link; the file appears once it is complete.
   */
  writeFile(path: string, data: Uint8Array | string, options?: WriteFileOptions): Promise<void>;
  /** `recursive` (default true): also creates parents and accepts an existing directory. */
  createDirectory(path: string, options?: CreateDirectoryOptions): Promise<void>;
  /** Creates a symbolic link to `target`, which need not exist. */
  createSymlink(path: string, target: Uint8Array | string, options?: CreateSymlinkOptions): Promise<void>;
  getMetadata(path: string, options?: MetadataOptions): Promise<FileMetadata>;
  /** Resolves all links in a path, which must exist. */
  canonicalize(path: string, options?: FileOptions): Promise<string>;
  /** Up to 50,000 entries, unordered. */
  readDirectory(
    path: string,
    options?: FileOptions & { readonly details?: boolean },
  ): Promise<readonly DirectoryEntry[]>;
  walk(path: string, options?: WalkOptions): Promise<WalkResult>;
  /**
   * Removes a file, a link (never its target) or a directory. `recursive` and `force` (ignore a missing path) default
   * to true. `followSymlinks: false` requires `recursive: false`.
   */
  remove(
    path: string,
    options?: LinkOptions & { readonly recursive?: boolean; readonly force?: boolean },
  ): Promise<void>;
  /**
   * Files keep their permissions and overwrite; links are copied as links; directories merge and require `recursive`.
   */
  copy(source: string, destination: string, options?: CopyOptions): Promise<void>;
  /** Moves within one file system, atomically replacing a file at the destination. */
  rename(source: string, destination: string, options?: FileOptions): Promise<void>;
  /** Regular files only. */
  open(path: string, options?: OpenFileOptions): Promise<FileHandle>;
  /**
   * Waits until one of the missing paths, or the first missing directory on the way to it, appears, or until `present`
   * changes or disappears. Null if there is nothing to wait for: one of them already exists, or `present` does not.
   */
  watchMissing(
    missing: readonly string[],
    options?: { readonly present?: string | null; readonly signal?: AbortSignal },
  ): Promise<MissingWatch | null>;
  /** Watches a file (even if it is replaced or temporarily missing) or a directory. */
  watch(path: string, options?: WatchOptions): Promise<FileWatch>;
  /** Finds matching lines in one file or in all files below a directory. Binary files are skipped. */
  search(path: string, query: SearchQuery): Promise<SearchPage>;
}
