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
} from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { Sandbox } from '../../../protocol/index.js';
import type { ConfinedPolicy } from '../../sandbox/index.js';
import { FileConfiner, policyOf } from './file-confiner.js';
import { type FilesUse, HeldFileHandle, type HoldFiles, noChanges } from './held-files.js';
import type { FileContent } from '../access/file-content.js';
import { type HostFileSystem, LocalFileSystem } from '../local-file-system.js';

/** Methods with one request and one answer, which can therefore run in another process. */
type Operation = Exclude<keyof FileSystem, 'open' | 'watch' | 'watchMissing'>;

/** What may make a set of held changes larger. */
const GROWING: readonly Operation[] = ['writeFile', 'createDirectory', 'createSymlink', 'copy', 'rename'];
const CHANGING: readonly Operation[] = [...GROWING, 'remove'];

/** The files of this machine. An operation under a policy runs in a process confined by that policy. */
export class ConfinableFileSystem implements HostFileSystem {
  readonly #local: LocalFileSystem;
  readonly #confiner: FileConfiner;
  readonly #hold: HoldFiles | undefined;

  constructor(hold?: HoldFiles, shared?: ConfinableFileSystem) {
    this.#hold = hold;
    this.#local = shared ? shared.#local : new LocalFileSystem();
    this.#confiner = shared ? shared.#confiner : new FileConfiner();
  }

  /** The same files for a client whose changes are held elsewhere. Close this one only. */
  withChanges(hold: HoldFiles): ConfinableFileSystem {
    return new ConfinableFileSystem(hold, this);
  }

  readFile(path: string, options: LinkOptions = {}): Promise<Uint8Array> {
    return this.#do('readFile', [path], options);
  }

  /** Under a policy the confined process returns the whole content. */
  async openContent(path: string, options: LinkOptions = {}): Promise<FileContent> {
    const { sandbox, ...rest } = options;
    return policyOf(sandbox) === null
      ? await this.#local.openContent(path, rest)
      : await this.readFile(path, options);
  }

  writeFile(path: string, data: Uint8Array | string, options: WriteFileOptions = {}): Promise<void> {
    return this.#do('writeFile', [path, data], options);
  }

  createDirectory(path: string, options: CreateDirectoryOptions = {}): Promise<void> {
    return this.#do('createDirectory', [path], options);
  }

  createSymlink(
    path: string,
    target: Uint8Array | string,
    options: CreateSymlinkOptions = {},
  ): Promise<void> {
    return this.#do('createSymlink', [path, target], options);
  }

  getMetadata(path: string, options: MetadataOptions = {}): Promise<FileMetadata> {
    return this.#do('getMetadata', [path], options);
  }

  canonicalize(path: string, options: FileOptions = {}): Promise<string> {
    return this.#do('canonicalize', [path], options);
  }

  readDirectory(
    path: string,
    options: FileOptions & { details?: boolean } = {},
  ): Promise<readonly DirectoryEntry[]> {
    return this.#do('readDirectory', [path], options);
  }

  walk(path: string, options: WalkOptions = {}): Promise<WalkResult> {
    return this.#do('walk', [path], options);
  }

  remove(path: string, options: LinkOptions & { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    return this.#do('remove', [path], options);
  }

  copy(source: string, destination: string, options: CopyOptions = {}): Promise<void> {
    return this.#do('copy', [source, destination], options);
  }

  rename(source: string, destination: string, options: FileOptions = {}): Promise<void> {
    return this.#do('rename', [source, destination], options);
  }

  search(path: string, query: SearchQuery): Promise<SearchPage> {
    return this.#do('search', [path], query);
  }

  async open(path: string, options: OpenFileOptions = {}): Promise<FileHandle> {
    const { sandbox, ...rest } = options;
    const policy = policyOf(sandbox);
    return policy === null
      ? await this.#local.open(path, rest)
      : await this.#openConfined(policy, { sandbox, path, options: rest });
  }

  async watchMissing(
    missing: readonly string[],
    options: { readonly present?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<MissingWatch | null> {
    return await this.#local.watchMissing(missing, options);
  }

  async watch(path: string, options: WatchOptions = {}): Promise<FileWatch> {
    if (policyOf(options.sandbox) !== null) {
      throw new ExecError(
        'sandboxUnavailable',
        'Watching cannot be confined to a policy; nothing is watched.',
      );
    }
    return await this.#local.watch(path, options);
  }

  /** Ends the confined processes. */
  async close(): Promise<void> {
    await this.#confiner.close();
  }

  async #do<Result>(
    operation: Operation,
    args: readonly unknown[],
    options: FileOptions & { readonly signal?: AbortSignal },
  ): Promise<Result> {
    const { sandbox, ...rest } = options;
    const policy = policyOf(sandbox);
    // Each caller above passes the arguments of its operation and declares its result.
    if (policy === null)
      return (await Reflect.apply(this.#local[operation], this.#local, [...args, rest])) as Result;
    const { signal: _, ...plain } = rest;
    const use = await this.#holdFor(sandbox);
    try {
      if (GROWING.includes(operation)) await use?.requireRoom();
      if (CHANGING.includes(operation)) use?.changed();
      const confined = { policy, held: use?.view };
      return (await this.#confiner.call(confined, operation, [...args, plain])) as Result;
    } finally {
      use?.close();
    }
  }

  /** The view is kept as long as the file is open. */
  async #openConfined(
    policy: ConfinedPolicy,
    {
      sandbox,
      path,
      options,
    }: { sandbox: Sandbox | null | undefined; path: string; options: OpenFileOptions },
  ): Promise<FileHandle> {
    const use = await this.#holdFor(sandbox);
    try {
      const handle = await this.#confiner.open({ policy, held: use?.view }, path, options);
      return use ? new HeldFileHandle(handle, use) : handle;
    } catch (error) {
      use?.close();
      throw error;
    }
  }

  async #holdFor(sandbox: Sandbox | null | undefined): Promise<FilesUse | null> {
    if (!sandbox?.changes) return null;
    if (this.#hold === undefined) throw noChanges();
    return await this.#hold(sandbox);
  }
}
