import type { FileHandle, FileSystem, TimeOptions } from '../../contract/index.js';
import { decodeBase64Into, ExecError, type ExecParsedParams, execMethods } from '../../protocol/index.js';
import { BytesResult } from '../../rpc/index.js';
import { blockBuffers, MAX_BLOCK_BYTES } from './block-buffers.js';
import { BulkGarbage } from '../bulk-garbage.js';
import { wirePath } from './wire-path.js';

/** The same as Codex's: enough for any client, few enough that one cannot exhaust the descriptors. */
const MAX_HANDLES = 128;
const MAX_HANDLE_ID_BYTES = 32;

/** The largest block in base64. */
const MAX_BLOCK_CHARS = Math.ceil(MAX_BLOCK_BYTES / 3) * 4;

/** The open files of one connection. They are closed with it. */
export class FileHandles {
  readonly #files: FileSystem;
  readonly #garbage: BulkGarbage;
  /** Null while the file is being opened: the id is taken and counts. */
  readonly #handles = new Map<string, FileHandle | null>();
  #ended = false;

  constructor(files: FileSystem, signal: AbortSignal, garbage = new BulkGarbage(undefined)) {
    this.#files = files;
    this.#garbage = garbage;
    signal.addEventListener('abort', () => void this.#end(), { once: true });
  }

  get size(): number {
    return this.#handles.size;
  }

  async open(params: ExecParsedParams<'fs/open'>): Promise<{ handleId: string }> {
    const { handleId, mode } = params;
    const path = wirePath(params.path);
    // Its client may be back and writing to the same file: emptying it now would lose that.
    if (this.#ended)
      throw new ExecError('connectionClosed', 'the connection ended before the file was opened');
    this.#reserve(handleId);
    try {
      const handle = await this.#files.open(path, {
        mode,
        ...(typeof params.permissions === 'number' ? { permissions: params.permissions } : {}),
        sandbox: params.sandbox ?? null,
      });
      this.#handles.set(handleId, handle);
      if (this.#ended) await this.close(handleId);
      return { handleId };
    } catch (error) {
      this.#handles.delete(handleId);
      throw error;
    }
  }

  async read(params: ExecParsedParams<'fs/readBlock'>): Promise<BytesResult> {
    requireBlock('read', params.len);
    requireOffset(params.offset);
    const handle = this.#get(params.handleId);
    const block = blockBuffers.acquire();
    try {
      const { bytes, eof } = await handle.read(params.offset, params.len, block);
      return new BytesResult({
        member: execMethods['fs/readBlock'].bytes.result,
        bytes,
        rest: { eof },
        release: () => blockBuffers.release(block),
      });
    } catch (error) {
      blockBuffers.release(block);
      await this.close(params.handleId);
      throw error;
    }
  }

  /** `bytes` replace the chunk if they were sent as such. */
  async write(params: ExecParsedParams<'fs/writeBlock'>, bytes: Uint8Array | undefined): Promise<void> {
    if (bytes) {
      await this.#write(params, bytes);
      this.#garbage.note(2 * bytes.length);
      return;
    }
    // Text that is too long for a block is decoded anyway, so that the error names the actual problem.
    const block =
      params.chunk.length <= MAX_BLOCK_CHARS ? blockBuffers.acquire() : Buffer.alloc(params.chunk.length);
    try {
      await this.#write(params, decodeBase64Into(params.chunk, block, 'invalidParams'));
    } finally {
      if (params.chunk.length <= MAX_BLOCK_CHARS) blockBuffers.release(block);
      this.#garbage.note(2 * params.chunk.length);
    }
  }

  /** With a path the file gets it, unless a write to it failed. */
  async close(handleId: string, renameTo?: string, options: TimeOptions = {}): Promise<void> {
    if (renameTo === undefined) {
      const handle = this.#handles.get(handleId);
      this.#handles.delete(handleId);
      return await handle?.close();
    }
    const path = wirePath(renameTo);
    const handle = this.#get(handleId);
    this.#handles.delete(handleId);
    await handle.closeAs(path, options);
  }

  async #write(params: ExecParsedParams<'fs/writeBlock'>, bytes: Uint8Array): Promise<void> {
    requireBlock('write', bytes.length);
    requireOffset(params.offset);
    await this.#get(params.handleId).write(params.offset, bytes);
  }

  #reserve(handleId: string): void {
    if (Buffer.byteLength(handleId) > MAX_HANDLE_ID_BYTES)
      throw new ExecError('invalidLimit', `file handle ID must not exceed ${MAX_HANDLE_ID_BYTES} bytes`);
    if (this.#handles.has(handleId))
      throw new ExecError('handleInUse', `file handle \`${handleId}\` already exists`);
    if (this.#handles.size >= MAX_HANDLES)
      throw new ExecError('tooManyHandles', `at most ${MAX_HANDLES} files can be open at a time`);
    this.#handles.set(handleId, null);
  }

  #get(handleId: string): FileHandle {
    const handle = this.#handles.get(handleId);
    if (handle) return handle;
    throw new ExecError('notFound', `unknown file handle \`${handleId}\``);
  }

  async #end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled([...this.#handles.keys()].map((handleId) => this.close(handleId)));
  }
}

function requireBlock(verb: 'read' | 'write', length: number): void {
  if (length < 1 || length > MAX_BLOCK_BYTES)
    throw new ExecError('invalidLimit', `file ${verb} block length must be between 1 and ${MAX_BLOCK_BYTES}`);
}

/** Above this, numbers are not exact, and no file is that long. */
function requireOffset(offset: number): void {
  if (offset > Number.MAX_SAFE_INTEGER) throw new ExecError('invalidLimit', 'file offset is too large');
}
