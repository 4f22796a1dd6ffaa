import type { FileHandle as Descriptor } from 'node:fs/promises';
import type { FileHandle } from '../../../contract/index.js';
import { asBuffer } from '../../kernel/index.js';
import { asExecError, osError } from './os-error.js';
import { openToRead, openToWrite, readFully, writeFully } from './regular-file.js';

/** Opens a regular file. `replace` creates or empties it at once. */
export async function openFile(path: Buffer, mode: 'read' | 'replace'): Promise<FileHandle> {
  if (mode === 'read') return new LocalFileHandle((await openToRead(path)).handle);
  const { handle, stats } = await openToWrite(path);
  try {
    if (stats.size > 0) await handle.truncate(0);
    return new LocalFileHandle(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

class LocalFileHandle implements FileHandle {
  readonly #descriptor: Descriptor;
  /** Closing waits for these: the system may give the number of a closed descriptor to another file. */
  readonly #underWay = new Set<Promise<unknown>>();
  #closing: Promise<void> | null = null;

  constructor(descriptor: Descriptor) {
    this.#descriptor = descriptor;
  }

  read(offset: number, length: number, into?: Uint8Array): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#run(async () => {
      const block = into ? asBuffer(into).subarray(0, length) : Buffer.allocUnsafeSlow(length);
      const count = await readFully(this.#descriptor, block, { offset });
      return { bytes: block.subarray(0, count), eof: count < length };
    });
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#run(() => writeFully(this.#descriptor, bytes, offset));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#underWay).then(() => this.#descriptor.close());
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
