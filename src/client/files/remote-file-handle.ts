import type { FileHandle, TimeOptions } from '../../contract/index.js';
import { ExecError, fileUri, isExecError, type Sandbox } from '../../protocol/index.js';
import { callForBytes, callWithBytes } from '../connection/bulk.js';
import type { ExecClient } from '../connection/exec-client.js';
import { unsupported } from '../connection/remote-errors.js';

interface OpenRequest {
  readonly path: string;
  readonly mode: 'read' | 'replace' | 'continue';
  readonly permissions?: number;
  readonly sandbox?: Sandbox | null;
}

/** A file that cannot be used this often in a row, with nothing done in between, is given up. */
const MAX_SETBACKS = 5;

let lastHandle = 0;

/**
 * An open file of another machine. Handles die with their connection, so the file is opened again by itself and whatever
 * was not answered is done again. One for writing is not emptied then, which servers of others have no way to say: there it
 * is lost. What is used before it is open goes out in the same flight, and its order is kept.
 */
export class RemoteFileHandle implements FileHandle {
  readonly #client: ExecClient;
  readonly #request: OpenRequest;
  #handleId = '';
  #opening: Promise<void>;
  /** When the file was made, which tells it from one that takes its place. */
  #createdAtMs: number | undefined;
  /** Where the file goes, once it was told to go there. */
  #renameTo: string | undefined;
  /** The file was seen where it goes: whatever was not answered was done. */
  #isRenamed = false;
  #setbacks = 0;
  /** The connection was lost since the file was opened first. */
  #isAgain = false;
  readonly #writes = new Set<Promise<void>>();
  #closed = false;

  private constructor(client: ExecClient, request: OpenRequest) {
    this.#client = client;
    this.#request = request;
    this.#opening = this.#open();
  }

  /** `ahead` does not wait for the answer. */
  static async open(
    client: ExecClient,
    request: OpenRequest,
    { ahead }: { ahead: boolean },
  ): Promise<RemoteFileHandle> {
    const handle = new RemoteFileHandle(client, request);
    if (!ahead) await handle.#opening;
    return handle;
  }

  async read(offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    this.#assertOpen();
    return await this.#use((handleId) => this.#readBlock({ handleId, offset, len: length }));
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#assertOpen();
    if (bytes.length === 0) return;
    const written = this.#use(async (handleId) => {
      if (this.#isRenamed) return;
      await callWithBytes(this.#client, 'fs/writeBlock', { params: { handleId, offset }, bytes });
    });
    this.#writes.add(written);
    try {
      await written;
    } finally {
      this.#writes.delete(written);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#client.call('fs/close', { handleId: this.#handleId });
    } catch (error) {
      // Without its connection the handle is closed already.
      if (!isExecError(error, 'connectionClosed')) throw error;
    }
  }

  async closeAs(path: string, options: TimeOptions = {}): Promise<void> {
    this.#assertOpen();
    if (!this.#client.serverCapabilities.fsPlacement) throw unsupported('renaming an open file');
    const { modifiedAtUs } = options;
    if (modifiedAtUs !== undefined && !this.#client.serverCapabilities.fsLinksAndTimes)
      throw unsupported('modification times');
    const time = modifiedAtUs === undefined ? {} : { modifiedAtUs };
    this.#closed = true;
    const renameTo = fileUri(path);
    this.#renameTo = renameTo;
    await this.#use(async (handleId) => {
      // What was sent in order once may be repeated in any.
      if (this.#isAgain) await Promise.all(this.#writes);
      if (!this.#isRenamed) await this.#client.call('fs/close', { handleId, renameTo, ...time });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Does something with the handle, and again with another one where the connection was lost in between. */
  async #use<Result>(work: (handleId: string) => Promise<Result>): Promise<Result> {
    for (;;) {
      const opening = this.#opening;
      try {
        // Whether it is the same file must be known before anything is done with it.
        if (this.#isAgain) await opening;
        const result = await work(this.#handleId);
        this.#setbacks = 0;
        return result;
      } catch (error) {
        // Why the file could not be opened says more than that it is not open.
        const cause = await opening.then(
          () => error,
          (reason: unknown) => reason,
        );
        if (!this.#isGone(cause, opening)) throw cause;
        if (opening === this.#opening && !this.#isRenamed) this.#openAgain();
      }
    }
  }

  /** Whether only the handle is gone, and can be had again. */
  #isGone(error: unknown, opening: Promise<void>): boolean {
    if (!this.#client.usable) return false;
    if (!isExecError(error, 'connectionClosed') && !isExecError(error, 'notFound')) return false;
    // Somebody else has opened it again in the meantime.
    if (opening !== this.#opening) return true;
    const canWriteOn = this.#request.mode === 'read' || this.#client.serverCapabilities.fsPlacement === true;
    // Without an answer it may yet be emptied, once others have written to it: nobody knows when that is over.
    const isHarmless = this.#request.mode !== 'replace' && isExecError(error, 'connectionClosed');
    const wasOpen = this.#createdAtMs !== undefined || isHarmless;
    return canWriteOn && wasOpen && this.#setbacks < MAX_SETBACKS;
  }

  #openAgain(): void {
    this.#setbacks += 1;
    this.#isAgain = this.#createdAtMs !== undefined;
    this.#opening = this.#open();
  }

  #open(): Promise<void> {
    lastHandle += 1;
    this.#handleId = `h${lastHandle}`;
    const opening = this.#createdAtMs === undefined ? this.#openFirst() : this.#openSame(this.#createdAtMs);
    // Whoever uses the file hears of it.
    opening.catch(() => undefined);
    return opening;
  }

  async #openFirst(): Promise<void> {
    const opened = this.#client.call('fs/open', { handleId: this.#handleId, ...this.#request });
    const described = this.#describe(this.#request.path);
    await opened;
    this.#createdAtMs = await described;
  }

  async #openSame(createdAtMs: number): Promise<void> {
    const { path, mode, sandbox } = this.#request;
    const how = { path, mode: mode === 'read' ? mode : ('continue' as const) };
    const policy = sandbox === undefined ? {} : { sandbox };
    const opened = this.#client.call('fs/open', { handleId: this.#handleId, ...how, ...policy });
    const described = this.#describe(path);
    try {
      await opened;
    } catch (error) {
      const renameTo = isExecError(error, 'notFound') ? this.#renameTo : undefined;
      // Without the time a file was made nobody can tell it from an older one.
      const isThere = renameTo !== undefined && createdAtMs > 0;
      if (!isThere || (await this.#describe(renameTo)) !== createdAtMs) throw error;
      this.#isRenamed = true;
      return;
    }
    if ((await described) !== createdAtMs)
      throw new ExecError('invalidFile', 'The file was replaced by another while the connection was lost.');
  }

  /** When a file was made; 0 where that is not known, -1 where there is none. Asked for along with the opening, and after it. */
  #describe(path: string): Promise<number> {
    const { sandbox } = this.#request;
    const policy = sandbox === undefined ? {} : { sandbox };
    const asked = this.#client.call('fs/getMetadata', { path, ...policy });
    return asked.then(
      ({ createdAtMs }) => createdAtMs,
      () => -1,
    );
  }

  async #readBlock(block: {
    handleId: string;
    offset: number;
    len: number;
  }): Promise<{ bytes: Uint8Array; eof: boolean }> {
    const { bytes, result } = await callForBytes(this.#client, 'fs/readBlock', block);
    // Whoever reads on by blocks would take what is missing for zeros, or wait for an end that never comes.
    if (bytes.length > block.len || (bytes.length < block.len && !result.eof))
      throw new ExecError(
        'protocolViolation',
        'The server sent a block of a different length than requested.',
      );
    return { bytes, eof: result.eof };
  }

  #assertOpen(): void {
    if (this.#closed) throw new ExecError('notFound', 'The file handle is closed.');
  }
}
