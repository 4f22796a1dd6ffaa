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
  PermissionOptions,
  SearchPage,
  SearchQuery,
  TimeOptions,
  WalkOptions,
  WalkResult,
  WatchOptions,
  WriteFileOptions,
} from '../../contract/index.js';
import { encodeBase64, fileUri, type ServerCapabilities } from '../../protocol/index.js';
import { callForBytes, callWithBytes } from '../connection/bulk.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';
import { RemoteFileHandle } from './remote-file-handle.js';
import { RemoteFileWatch } from './remote-file-watch.js';
import { RemoteMissingWatch } from './remote-missing-watch.js';
import { childPath, detailsOf, links, policy, shown, withPath } from './wire-files.js';
import { writeInBlocks } from './write-in-blocks.js';

/** Larger files are written block by block: in one message their base64 would not fit. */
const MAX_WHOLE_WRITE_BYTES = 32 * 1024 * 1024;

/** What a walk looks at unless told otherwise: as much as the protocol allows. */
const WALK_LIMITS = { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000 };

type FileCapability = keyof ServerCapabilities & `fs${string}`;

/** The files of the machine behind a client. */
export class RemoteFileSystem implements FileSystem {
  readonly #client: ExecClient;

  constructor(client: ExecClient) {
    this.#client = client;
  }

  async readFile(path: string, options: LinkOptions = {}): Promise<Uint8Array> {
    const request = { path: fileUri(path), ...links(options) };
    return (await callForBytes(this.#client, 'fs/readFile', request)).bytes;
  }

  async writeFile(path: string, data: Uint8Array | string, options: WriteFileOptions = {}): Promise<void> {
    const { atomic = false, exclusive = false } = options;
    if (this.#early && (atomic || exclusive || isSpecial(options))) await this.#client.ready();
    if (atomic) this.#require('fsAtomicWrite', 'atomic writes');
    if (exclusive) this.#require('fsPlacement', 'creating a file only if none exists');
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    const plain =
      !atomic && !exclusive && options.followSymlinks !== false && options.modifiedAtUs === undefined;
    if (plain && bytes.length > MAX_WHOLE_WRITE_BYTES) {
      await using handle = await this.open(path, { ...options, mode: 'replace' });
      return await writeInBlocks(handle, bytes);
    }
    const params = {
      path: fileUri(path),
      ...(atomic ? { atomic } : {}),
      ...(exclusive ? { exclusive } : {}),
      ...this.#permissions(options),
      ...this.#times(options),
      ...links(options),
    };
    await callWithBytes(this.#client, 'fs/writeFile', { params, bytes });
  }

  async createDirectory(path: string, options: CreateDirectoryOptions = {}): Promise<void> {
    const { recursive = true } = options;
    if (this.#early && isSpecial(options)) await this.#client.ready();
    const special = { ...this.#permissions(options), ...this.#times(options) };
    const request = { path: fileUri(path), recursive, ...special, ...links(options) };
    await this.#client.call('fs/createDirectory', request);
  }

  async createSymlink(
    path: string,
    target: Uint8Array | string,
    options: CreateSymlinkOptions = {},
  ): Promise<void> {
    if (this.#early) await this.#client.ready();
    this.#require('fsLinksAndTimes', 'making symbolic links');
    const bytes = typeof target === 'string' ? new TextEncoder().encode(target) : target;
    const request = { path: fileUri(path), targetBase64: encodeBase64(bytes), replace: options.replace };
    await this.#client.call('fs/createSymlink', { ...request, ...this.#times(options), ...links(options) });
  }

  async getMetadata(path: string, options: MetadataOptions = {}): Promise<FileMetadata> {
    const { details = false } = options;
    if (this.#early && details) await this.#client.ready();
    if (details) this.#require('fsPlacement', 'permissions in the description of a file');
    const request = { path: fileUri(path), ...(details ? { details } : {}), ...links(options) };
    const { mode, modifiedAtUs, link, ...metadata } = await this.#client.call('fs/getMetadata', request);
    return { ...metadata, ...detailsOf({ mode, modifiedAtUs, link }) };
  }

  async canonicalize(path: string, options: FileOptions = {}): Promise<string> {
    const result = await this.#client.call('fs/canonicalize', { path: fileUri(path), ...policy(options) });
    return shown(result.path);
  }

  async readDirectory(
    path: string,
    options: FileOptions & { readonly details?: boolean } = {},
  ): Promise<readonly DirectoryEntry[]> {
    const { details = false } = options;
    if (this.#early && details) await this.#client.ready();
    if (details) this.#require('fsDirectoryDetails', 'details in directory listings');
    const uri = fileUri(path);
    const request = { path: uri, ...(details ? { details } : {}), ...policy(options) };
    const { entries } = await this.#client.call('fs/readDirectory', request);
    const directory = shown(uri).replace(/\/$/, '');
    return entries.map((entry) => {
      const { fileName, path: own, isSymlink, size, isDirectory, isFile } = entry;
      return {
        name: fileName,
        path: own === undefined ? childPath(directory, fileName) : shown(own),
        isDirectory,
        isFile,
        ...(isSymlink === undefined ? {} : { isSymlink }),
        ...(size === undefined ? {} : { size }),
        ...detailsOf(entry),
      };
    });
  }

  async walk(path: string, options: WalkOptions = {}): Promise<WalkResult> {
    const { sandbox: _, ...limits } = options;
    const { entries, errors, truncated } = await this.#client.call('fs/walk', {
      path: fileUri(path),
      options: { ...WALK_LIMITS, followDirectorySymlinks: false, ...limits },
      ...policy(options),
    });
    return { entries: entries.map(withPath), errors: errors.map(withPath), truncated };
  }

  async remove(
    path: string,
    options: LinkOptions & { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> {
    const { recursive = true, force = true } = options;
    await this.#client.call('fs/remove', { path: fileUri(path), recursive, force, ...links(options) });
  }

  async copy(source: string, destination: string, options: CopyOptions = {}): Promise<void> {
    const { recursive = false, keepTimes = false } = options;
    if (this.#early && keepTimes) await this.#client.ready();
    if (keepTimes) this.#require('fsLinksAndTimes', 'modification times');
    const paths = { sourcePath: fileUri(source), destinationPath: fileUri(destination) };
    await this.#client.call('fs/copy', {
      ...paths,
      recursive,
      ...(keepTimes ? { keepTimes } : {}),
      ...policy(options),
    });
  }

  async rename(source: string, destination: string, options: FileOptions = {}): Promise<void> {
    if (this.#early) await this.#client.ready();
    this.#require('fsRename', 'renaming');
    const paths = { sourcePath: fileUri(source), destinationPath: fileUri(destination) };
    await this.#client.call('fs/rename', { ...paths, ...policy(options) });
  }

  async open(path: string, options: OpenFileOptions = {}): Promise<FileHandle> {
    const { mode = 'read', ahead = false } = options;
    if (this.#early && (mode === 'continue' || options.permissions !== undefined)) await this.#client.ready();
    if (mode === 'continue') this.#require('fsPlacement', 'writing on in a file');
    const permissions = this.#permissions(options);
    const request = { path: fileUri(path), mode, ...permissions, ...policy(options) };
    return await RemoteFileHandle.open(this.#client, request, { ahead });
  }

  async watchMissing(
    missing: readonly string[],
    options: { readonly present?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<MissingWatch | null> {
    const { present = null, signal } = options;
    return await RemoteMissingWatch.open(this.#client, {
      missing: missing.map((path) => fileUri(path)),
      present: present === null ? null : fileUri(present),
      signal,
    });
  }

  async watch(path: string, options: WatchOptions = {}): Promise<FileWatch> {
    if (this.#early) await this.#client.ready();
    this.#require('fsWatch', 'watching files');
    return await RemoteFileWatch.open(this.#client, { ...options, path: fileUri(path) });
  }

  async search(path: string, query: SearchQuery): Promise<SearchPage> {
    if (this.#early) await this.#client.ready();
    this.#require('fsSearch', 'searching in files');
    const { signal, globs, sandbox, ...rest } = query;
    const request = { path: fileUri(path), ...rest, ...(globs ? { globs: [...globs] } : {}), sandbox };
    const { matches, cursor } = await this.#client.call('fs/search', request, { signal });
    return { matches: matches.map(withPath), cursor };
  }

  #permissions(options: PermissionOptions): { permissions?: number } {
    const { permissions } = options;
    if (permissions === undefined) return {};
    this.#require('fsPlacement', 'permissions of new files');
    return { permissions };
  }

  #times(options: TimeOptions): TimeOptions {
    const { modifiedAtUs } = options;
    if (modifiedAtUs === undefined) return {};
    this.#require('fsLinksAndTimes', 'modification times');
    return { modifiedAtUs };
  }

  /** What the server can do is not known yet. Where it is, nothing may wait for it: calls keep their order. */
  get #early(): boolean {
    return !this.#client.introduced;
  }

  #require(capability: FileCapability, what: string): void {
    if (!this.#client.serverCapabilities[capability]) throw unsupported(what);
  }
}

function isSpecial({ permissions, modifiedAtUs }: PermissionOptions & TimeOptions): boolean {
  return permissions !== undefined || modifiedAtUs !== undefined;
}
