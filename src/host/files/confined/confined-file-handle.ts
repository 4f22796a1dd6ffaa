import type { FileHandle, TimeOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { HelperLease } from '../../sandbox/index.js';

/** A file that is open inside a sandbox. The helper that holds it is kept as long. */
export class ConfinedFileHandle implements FileHandle {
  readonly #lease: HelperLease;
  readonly #id: number;
  #closed = false;

  constructor(lease: HelperLease, id: number) {
    this.#lease = lease;
    this.#id = id;
  }

  async read(offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    const block = await this.#lease.call('readHandle', [this.#id, offset, length]);
    // The target inside is ours and declares this result.
    return block as { bytes: Uint8Array; eof: boolean };
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    await this.#lease.call('writeHandle', [this.#id, offset, bytes]);
  }

  async close(): Promise<void> {
    if (!this.#closed) await this.#end('closeHandle', [this.#id]);
  }

  async closeAs(path: string, options: TimeOptions = {}): Promise<void> {
    if (this.#closed) throw new ExecError('notFound', 'The file handle is closed.');
    await this.#end('closeHandleAs', [this.#id, path, options]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(method: string, args: readonly unknown[]): Promise<void> {
    this.#closed = true;
    try {
      await this.#lease.call(method, args);
    } finally {
      this.#lease.release();
    }
  }
}
