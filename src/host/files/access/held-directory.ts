import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { type Identity, identityOf } from './file-identity.js';
import { childOf, componentsOf, isRoot, linux, parentOf } from '../../kernel/index.js';
import { hasOsCode, osError } from './os-error.js';

/** A descriptor to start from. Needs no read permission. */
const HOLD = linux.O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** True if paths through held descriptors exist here. Otherwise no-follow operations are refused rather than raced. */
export const canHoldDirectories = process.platform === 'linux' && existsSync('/proc/self/fd');

/**
 * A directory held by descriptor. Its children are addressed through the descriptor, so that no parent can be swapped
 * for a link between a check and its use.
 */
export class HeldDirectory implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #own: Buffer;

  /** `path` is used if the system has no paths for descriptors. */
  constructor(handle: FileHandle, path?: Buffer) {
    this.#handle = handle;
    this.#own = path ?? Buffer.from(`/proc/self/fd/${handle.fd}`);
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /** A path for `name` in this directory, valid while it is held. Without a name: the directory itself. */
  at(name?: Buffer): Buffer {
    return name === undefined ? this.#own : childOf(this.#own, name);
  }

  /** Holds a subdirectory. A link, whatever it points to, is not a directory unless links are followed. */
  async enter(name: Buffer, options: { followSymlinks?: boolean } = {}): Promise<HeldDirectory> {
    const path = this.at(name);
    const links = options.followSymlinks === true ? 0 : constants.O_NOFOLLOW;
    if (!canHoldDirectories) return new HeldDirectory(await open(path, constants.O_DIRECTORY | links), path);
    return new HeldDirectory(await open(path, linux.O_PATH | constants.O_DIRECTORY | links));
  }

  async mode(): Promise<number> {
    return (await this.#handle.stat()).mode;
  }

  /** Distinguishes this directory from all others, including one that takes its place. */
  async identity(): Promise<Identity> {
    return identityOf(await this.#handle.stat({ bigint: true }));
  }

  /** Flushes the directory itself, so that a rename in it survives a power failure. */
  async sync(): Promise<void> {
    await using directory = await open(this.at(), constants.O_RDONLY | constants.O_DIRECTORY);
    await directory.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Holds a directory whose path contains no link at all. `create` makes missing ones. */
export async function holdDirectory(
  path: Buffer,
  options: { create?: boolean } = {},
): Promise<HeldDirectory> {
  if (!canHoldDirectories) throw osError('ENOSYS');
  let held = new HeldDirectory(await open('/', HOLD));
  for (const name of componentsOf(path)) {
    await using parent = held;
    if (options.create === true) await makeDirectory(parent.at(name));
    held = await parent.enter(name);
  }
  return held;
}

/** Holds a directory, following links on the way. */
export async function holdResolved(path: Buffer): Promise<HeldDirectory> {
  if (!canHoldDirectories) return new HeldDirectory(await open(path, constants.O_DIRECTORY), path);
  return new HeldDirectory(await open(path, linux.O_PATH | constants.O_DIRECTORY));
}

/** Holds the directory that contains `path`, with no link on the way. The root has no parent. */
export async function holdParent(path: Buffer): Promise<HeldDirectory> {
  if (isRoot(path)) throw osError('EISDIR');
  return holdDirectory(parentOf(path));
}

async function makeDirectory(path: Buffer): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!hasOsCode(error, 'EEXIST')) throw error;
  }
}
