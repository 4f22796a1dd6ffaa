import type { FileHandle } from '../../contract/index.js';
import { ExecError, isExecError, type Sandbox } from '../../protocol/index.js';
import { callForBytes, callWithBytes } from '../connection/bulk.js';
import type { ExecClient } from '../connection/exec-client.js';

interface OpenRequest {
  readonly path: string;
  readonly mode: 'read' | 'replace';
  readonly sandbox?: Sandbox | null;
}

let lastHandle = 0;

/**
 * An open file of another machine. Handles die with their connection: one for reading is opened again by
 * itself, one for writing is not, since opening it would empty the file.
 */
export class RemoteFileHandle implements FileHandle {
  readonly #client: ExecClient;
  readonly #request: OpenRequest;
  #handleId: string;
  #closed = false;

  private constructor(client: ExecClient, request: OpenRequest, handleId: string) {
    this.#client = client;
    this.#request = request;
    this.#handleId = handleId;
  }

  static async open(client: ExecClient, request: OpenRequest): Promise<RemoteFileHandle> {
    return new RemoteFileHandle(client, request, await openHandle(client, request));
  }

  async read(offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    this.#assertOpen();
    const handleId = this.#handleId;
    try {
      return await this.#readBlock(offset, length);
    } catch (error) {
      const gone = isExecError(error, 'connectionClosed') || isExecError(error, 'notFound');
      if (!gone || this.#request.mode !== 'read' || !this.#client.usable) throw error;
      if (handleId === this.#handleId) this.#handleId = await openHandle(this.#client, this.#request);
      return await this.#readBlock(offset, length);
    }
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#assertOpen();
    if (bytes.length === 0) return;
    const params = { handleId: this.#handleId, offset };
    await callWithBytes(this.#client, 'fs/writeBlock', { params, bytes });
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #readBlock(offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    const block = { handleId: this.#handleId, offset, len: length };
    const { bytes, result } = await callForBytes(this.#client, 'fs/readBlock', block);
    // Whoever reads on by blocks would take what is missing for zeros, or wait for an end that never comes.
    if (bytes.length > length || (bytes.length < length && !result.eof))
      throw new ExecError('protocolViolation', 'The server sent a block of another length than asked for.');
    return { bytes, eof: result.eof };
  }

  #assertOpen(): void {
    if (this.#closed) throw new ExecError('notFound', 'The file handle is closed.');
  }
}

async function openHandle(client: ExecClient, request: OpenRequest): Promise<string> {
  lastHandle += 1;
  const handleId = `h${lastHandle}`;
  await client.call('fs/open', { handleId, ...request });
  return handleId;
}
