import type { FileHandle, TimeOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import type { Sandbox } from '../../../protocol/index.js';
import type { HeldView } from '../../sandbox/index.js';

/** Files with held changes, while they are used. */
export interface FilesUse {
  readonly view: HeldView | undefined;
  /** Throws `changesFull` if nothing more fits into the set. */
  readonly requireRoom: () => Promise<void>;
  /** Something was changed. */
  readonly changed: () => void;
  readonly close: () => void;
}

/** Makes the files of a set ready for an operation under this policy. */
export type HoldFiles = (sandbox: Sandbox) => Promise<FilesUse>;

/** A file that is open in a view of held changes, which is kept as long. */
export class HeldFileHandle implements FileHandle {
  readonly #inner: FileHandle;
  readonly #use: FilesUse;

  constructor(inner: FileHandle, use: FilesUse) {
    this.#inner = inner;
    this.#use = use;
  }

  read(offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#inner.read(offset, length);
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    await this.#use.requireRoom();
    this.#use.changed();
    await this.#inner.write(offset, bytes);
  }

  async close(): Promise<void> {
    await this.#inner.close().finally(this.#use.close);
  }

  async closeAs(path: string, options?: TimeOptions): Promise<void> {
    await this.#inner.closeAs(path, options).finally(this.#use.close);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** For file systems without a place to hold changes in. */
export function noChanges(): ExecError {
  return new ExecError('sandboxUnavailable', 'Changes cannot be held here: there is no place to keep them.', {
    data: { reason: 'changesNoPlace', hint: 'Give the server a directory for held changes: --changes-dir.' },
  });
}
