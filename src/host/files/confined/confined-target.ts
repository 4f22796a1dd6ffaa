import type { FileHandle, OpenFileOptions, TimeOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { LocalFileSystem } from '../local-file-system.js';

/** File operations as called inside a sandbox: what cannot cross the process boundary is identified by a number. */
class ConfinedTarget extends LocalFileSystem {
  readonly #handles = new Map<number, FileHandle>();
  #lastHandle = 0;

  async openHandle(path: string, options: OpenFileOptions): Promise<number> {
    const handle = await this.open(path, options);
    this.#lastHandle += 1;
    this.#handles.set(this.#lastHandle, handle);
    return this.#lastHandle;
  }

  readHandle(id: number, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#handle(id).read(offset, length);
  }

  writeHandle(id: number, offset: number, bytes: Uint8Array): Promise<void> {
    return this.#handle(id).write(offset, bytes);
  }

  async closeHandle(id: number): Promise<void> {
    const handle = this.#handles.get(id);
    this.#handles.delete(id);
    await handle?.close();
  }

  async closeHandleAs(id: number, path: string, options: TimeOptions): Promise<void> {
    const handle = this.#handle(id);
    this.#handles.delete(id);
    await handle.closeAs(path, options);
  }

  #handle(id: number): FileHandle {
    const handle = this.#handles.get(id);
    if (!handle) throw new ExecError('notFound', 'The file handle is closed.');
    return handle;
  }
}

/** What a confined helper process loads. */
export const confinedTarget = new ConfinedTarget();
