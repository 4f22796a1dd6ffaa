import type { FileSystem } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { fileUri } from '../../protocol/file-uri.js';
import type { Sandbox } from '../../protocol/index.js';

/** A file that belongs to a plugin or skill. */
export interface CapabilityFile {
  readonly path: string;
  readonly contents: string;
}

/** More than anyone writes by hand; one root must not fill a message. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_ROOT_BYTES = 16 * 1024 * 1024;

/** Reads the files of one root within its limits. What cannot be read becomes a warning. */
export class CapabilityReader {
  readonly warnings: string[] = [];
  readonly #files: FileSystem;
  readonly #sandbox: Sandbox | null;
  readonly #read = new Map<string, CapabilityFile | null>();
  #remaining = MAX_ROOT_BYTES;

  constructor(files: FileSystem, sandbox: Sandbox | null) {
    this.#files = files;
    this.#sandbox = sandbox;
  }

  /** Null if the file does not exist or cannot be used. Each file is read once. */
  async read(path: string): Promise<CapabilityFile | null> {
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    const file = await this.#readNew(path);
    this.#read.set(path, file);
    return file;
  }

  async #readNew(path: string): Promise<CapabilityFile | null> {
    try {
      const bytes = await this.#bytesOf(path);
      return bytes === null ? null : { path, contents: textDecoder.decode(bytes) };
    } catch (error) {
      if (isExecError(error, 'notFound')) return null;
      this.#warn(path, isExecError(error) ? `cannot be read: ${error.message}` : 'is not UTF-8');
      return null;
    }
  }

  async #bytesOf(path: string): Promise<Uint8Array | null> {
    await using handle = await this.#files.open(path, { sandbox: this.#sandbox });
    const { bytes } = await handle.read(0, MAX_FILE_BYTES);
    const isLonger =
      bytes.length === MAX_FILE_BYTES && (await handle.read(MAX_FILE_BYTES, 1)).bytes.length > 0;
    if (isLonger) return this.#warn(path, `exceeds the ${MAX_FILE_BYTES}-byte limit`);
    if (bytes.length > this.#remaining)
      return this.#warn(path, `is beyond the ${MAX_ROOT_BYTES}-byte limit of its root`);
    this.#remaining -= bytes.length;
    return bytes;
  }

  #warn(path: string, what: string): null {
    this.warnings.push(`capability file ${fileUri(path)} ${what}`);
    return null;
  }
}

const textDecoder = new TextDecoder('utf-8', { fatal: true });
