import { realpath, rename } from 'node:fs/promises';
import type {
  DirectoryEntry,
  FileHandle,
  FileMetadata,
  FileOptions,
  FileSystem,
  FileWatch,
  LinkOptions,
  MissingWatch,
  SearchPage,
  SearchQuery,
  WalkOptions,
  WalkResult,
  WatchOptions,
} from '../../contract/index.js';
import { copy } from './copy.js';
import { createDirectory } from './directories.js';
import { hostPath, shownPath } from './host-path.js';
import { openFile } from './local-file-handle.js';
import { watchPath } from './local-file-watch.js';
import { watchMissing } from './local-missing-watch.js';
import { getMetadata } from './metadata.js';
import { asExecError } from './os-error.js';
import { readDirectory } from './read-directory.js';
import { readFile } from './read-file.js';
import { remove } from './remove.js';
import { requireUnconfined } from './sandbox-gate.js';
import { search } from './search.js';
import { walk } from './walk.js';
import { writeFile } from './write-file.js';

/** The files of this machine, with the rights of this process. */
export class LocalFileSystem implements FileSystem {
  readFile(path: string, options: LinkOptions = {}): Promise<Uint8Array> {
    return run(options, () => readFile(hostPath(path), options));
  }

  writeFile(
    path: string,
    data: Uint8Array | string,
    options: LinkOptions & { readonly atomic?: boolean } = {},
  ): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    return run(options, () => writeFile(hostPath(path), bytes, options));
  }

  createDirectory(path: string, options: LinkOptions & { readonly recursive?: boolean } = {}): Promise<void> {
    return run(options, () => createDirectory(hostPath(path), options));
  }

  getMetadata(path: string, options: LinkOptions = {}): Promise<FileMetadata> {
    return run(options, () => getMetadata(hostPath(path), options));
  }

  canonicalize(path: string, options: FileOptions = {}): Promise<string> {
    return run(options, async () => shownPath(await realpath(hostPath(path), { encoding: 'buffer' })));
  }

  readDirectory(
    path: string,
    options: FileOptions & { readonly details?: boolean } = {},
  ): Promise<readonly DirectoryEntry[]> {
    return run(options, () => readDirectory(hostPath(path), options));
  }

  walk(path: string, options: WalkOptions = {}): Promise<WalkResult> {
    return run(options, () => walk(hostPath(path), options));
  }

  remove(
    path: string,
    options: LinkOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    return run(options, () => remove(hostPath(path), options));
  }

  copy(
    source: string,
    destination: string,
    options: FileOptions & { readonly recursive?: boolean } = {},
  ): Promise<void> {
    return run(options, () => copy(hostPath(source), hostPath(destination), options.recursive === true));
  }

  rename(source: string, destination: string, options: FileOptions = {}): Promise<void> {
    return run(options, () => rename(hostPath(source), hostPath(destination)));
  }

  open(
    path: string,
    options: FileOptions & { readonly mode?: 'read' | 'replace' } = {},
  ): Promise<FileHandle> {
    return run(options, () => openFile(hostPath(path), options.mode ?? 'read'));
  }

  watchMissing(
    missing: readonly string[],
    options: { readonly present?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<MissingWatch | null> {
    const present = options.present ?? null;
    return run({}, () =>
      watchMissing(missing.map(hostPath), {
        present: present === null ? null : hostPath(present),
        signal: options.signal,
      }),
    );
  }

  watch(path: string, options: WatchOptions = {}): Promise<FileWatch> {
    return run(options, () => watchPath(hostPath(path), options));
  }

  search(path: string, query: SearchQuery): Promise<SearchPage> {
    return run(query, () => search(hostPath(path), query));
  }
}

/** What every operation has in common: the policy is checked first, and errors come out as ours. */
async function run<T>(options: FileOptions, operation: () => Promise<T>): Promise<T> {
  try {
    requireUnconfined(options.sandbox);
    return await operation();
  } catch (error) {
    throw asExecError(error);
  }
}
