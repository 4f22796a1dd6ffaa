import { realpath, rename } from 'node:fs/promises';
import type {
  CopyOptions,
  CreateDirectoryOptions,
  CreateSymlinkOptions,
  DirectoryEntry,
  FileHandle,
  FileMetadata,
  FileOptions,
  FileSystem,
  FileWatch,
  LinkOptions,
  MetadataOptions,
  MissingWatch,
  OpenFileOptions,
  SearchPage,
  SearchQuery,
  WalkOptions,
  WalkResult,
  WatchOptions,
  WriteFileOptions,
} from '../../contract/index.js';
import { copy } from './access/copy.js';
import { createDirectory } from './access/directories.js';
import { type FileContent, openContent } from './access/file-content.js';
import { hostPath, shownPath } from '../kernel/index.js';
import { cachedMetadata } from './cached/metadata.js';
import { readCachedFile } from './cached/read.js';
import type { FastPath } from './cached/fast-path.js';
import { openFile } from './access/local-file-handle.js';
import { watchPath } from './watch/local-file-watch.js';
import { watchMissing } from './watch/local-missing-watch.js';
import { getMetadata } from './access/metadata.js';
import { asExecError } from './access/os-error.js';
import { readDirectory } from './access/read-directory.js';
import { readFile } from './access/read-file.js';
import { remove } from './access/remove.js';
import { createSymlink } from './access/symlink.js';
import { search } from './search/search.js';
import { walk } from './access/walk.js';
import { writeFile } from './access/write-file.js';

/** A file system whose files can be sent without holding them in memory completely. */
export interface HostFileSystem extends FileSystem {
  openContent(path: string, options?: LinkOptions): Promise<FileContent>;
}

/** The files of this machine, with the privileges of this process. Policies are enforced by `ConfinableFileSystem`. */
export class LocalFileSystem implements HostFileSystem {
  readonly #fastPath: boolean;

  /** With `fastPath: false` every call uses what Node offers, even if the kernel could answer from memory. */
  constructor(options: FastPath = {}) {
    this.#fastPath = options.fastPath ?? true;
  }

  readFile(path: string, options: LinkOptions = {}): Promise<Uint8Array> {
    return run(async () => {
      const place = hostPath(path);
      const cached = this.#fastPath ? readCachedFile(place, options) : null;
      return cached ?? (await readFile(place, options));
    });
  }

  /** Like `readFile`, for sending: a large file comes piece by piece. */
  openContent(path: string, options: LinkOptions = {}): Promise<FileContent> {
    return run(async () => {
      const place = hostPath(path);
      const cached = this.#fastPath ? readCachedFile(place, options) : null;
      return cached ?? (await openContent(place, options));
    });
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteFileOptions = {}): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    return run(() => writeFile(hostPath(path), bytes, { ...options, fastPath: this.#fastPath }));
  }

  createDirectory(path: string, options: CreateDirectoryOptions = {}): Promise<void> {
    return run(() => createDirectory(hostPath(path), options));
  }

  createSymlink(
    path: string,
    target: Uint8Array | string,
    options: CreateSymlinkOptions = {},
  ): Promise<void> {
    return run(() => createSymlink(hostPath(path), Buffer.from(target), options));
  }

  getMetadata(path: string, options: MetadataOptions = {}): Promise<FileMetadata> {
    return run(async () => {
      const place = hostPath(path);
      const cached = this.#fastPath && options.details !== true ? cachedMetadata(place, options) : null;
      return cached ?? (await getMetadata(place, options));
    });
  }

  canonicalize(path: string): Promise<string> {
    return run(async () => shownPath(await realpath(hostPath(path), { encoding: 'buffer' })));
  }

  readDirectory(
    path: string,
    options: FileOptions & { readonly details?: boolean } = {},
  ): Promise<readonly DirectoryEntry[]> {
    return run(() => readDirectory(hostPath(path), { ...options, fastPath: this.#fastPath }));
  }

  walk(path: string, options: WalkOptions = {}): Promise<WalkResult> {
    return run(() => walk(hostPath(path), { ...options, fastPath: this.#fastPath }));
  }

  remove(
    path: string,
    options: LinkOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    return run(() => remove(hostPath(path), options));
  }

  copy(source: string, destination: string, options: CopyOptions = {}): Promise<void> {
    return run(() => copy(hostPath(source), hostPath(destination), options));
  }

  rename(source: string, destination: string): Promise<void> {
    return run(() => rename(hostPath(source), hostPath(destination)));
  }

  open(path: string, options: OpenFileOptions = {}): Promise<FileHandle> {
    return run(() => openFile(hostPath(path), options));
  }

  watchMissing(
    missing: readonly string[],
    options: { readonly present?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<MissingWatch | null> {
    const present = options.present ?? null;
    return run(() =>
      watchMissing(missing.map(hostPath), {
        present: present === null ? null : hostPath(present),
        signal: options.signal,
      }),
    );
  }

  watch(path: string, options: WatchOptions = {}): Promise<FileWatch> {
    return run(() => watchPath(hostPath(path), options));
  }

  search(path: string, query: SearchQuery): Promise<SearchPage> {
    return run(() => search(hostPath(path), query));
  }
}

/** Common to all operations: errors come out as ours. */
async function run<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw asExecError(error);
  }
}
