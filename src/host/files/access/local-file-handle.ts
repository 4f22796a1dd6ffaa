import { type FileHandle as Descriptor, rename } from 'node:fs/promises';
import type { FileHandle, OpenFileOptions, TimeOptions } from '../../../contract/index.js';
import { asBuffer, hostPath } from '../../kernel/index.js';
import { asExecError, osError } from './os-error.js';
import { openToContinue, openToRead, openToWrite, readFully, writeFully } from './regular-file.js';
import { setTime } from './times.js';

/** Opens a regular file. */
export async function openFile(path: Buffer, options: OpenFileOptions): Promise<FileHandle> {
  const { mode = 'read', permissions } = options;
  if (mode === 'read') return new LocalFileHandle((await openToRead(path)).handle, path);
  const { handle, stats } =
    mode === 'continue'
      ? await openToContinue(path)
      : await openToWrite(path, permissions === undefined ? {} : { mode: permissions });
  try {
    if (permissions !== undefined) await handle.chmod(permissions);
    if (mode === 'replace' && stats.size > 0) await handle.truncate(0);
    return new LocalFileHandle(handle, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

class LocalFileHandle implements FileHandle {
  readonly #descriptor: Descriptor;
  readonly #path: Buffer;
  /** Closing waits for these, since the number of a closed descriptor may be reused for another file. */
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;
  /** What went wrong with the first write that failed. */
  #failure: unknown;

  constructor(descriptor: Descriptor, path: Buffer) {
    this.#descriptor = descriptor;
    this.#path = path;
  }

  read(offset: number, length: number, into?: Uint8Array): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#run(async () => {
      const block = into ? asBuffer(into).subarray(0, length) : Buffer.allocUnsafeSlow(length);
      const count = await readFully(this.#descriptor, block, { offset });
      return { bytes: block.subarray(0, count), eof: count < length };
    });
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#run(() =>
      writeFully(this.#descriptor, bytes, offset).catch((error: unknown) => {
        this.#failure ??= error;
        throw error;
      }),
    );
  }

  async closeAs(path: string, options: TimeOptions = {}): Promise<void> {
    if (this.#closing !== null) throw osError('EBADF');
    try {
      await this.#close(options.modifiedAtUs);
      if (this.#failure !== undefined) throw this.#failure;
      await rename(this.#path, hostPath(path));
    } catch (error) {
      throw asExecError(error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close(undefined);
    return this.#closing;
  }

  #close(modifiedAtUs: number | undefined): Promise<void> {
    this.#closing = Promise.allSettled(this.#underWay).then(async () => {
      try {
        await setTime(this.#descriptor, modifiedAtUs);
      } finally {
        await this.#descriptor.close();
      }
    });
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw osError('EBADF');
    const running = operation();
    this.#underWay.add(running);
    try {
      return await running;
    } catch (error) {
      throw asExecError(error);
    } finally {
      this.#underWay.delete(running);
    }
  }
}
