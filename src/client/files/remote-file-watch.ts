import { ChangeLog, type FileChanges, type FileWatch, type WatchOptions } from '../../contract/index.js';
import { ExecError, execServerNotifications, parseFileUri, pathText } from '../../protocol/index.js';
import type { ClientListener } from '../connection/client-listeners.js';
import type { ExecClient } from '../connection/exec-client.js';

let lastWatch = 0;

/** A watch on another machine. After a lost connection it is set up again and says that changes may be missing. */
export class RemoteFileWatch implements FileWatch, ClientListener {
  readonly #client: ExecClient;
  readonly #request: WatchOptions & { readonly path: string };
  readonly #log = new ChangeLog();
  readonly #reader = this.#log.open(0);
  readonly #watchId: string;
  readonly #stopListening: () => void;
  #path = '';
  #closed = false;

  private constructor(client: ExecClient, request: WatchOptions & { readonly path: string }) {
    this.#client = client;
    this.#request = request;
    lastWatch += 1;
    this.#watchId = `w${lastWatch}`;
    this.#stopListening = client.listen(this);
  }

  static async open(
    client: ExecClient,
    request: WatchOptions & { readonly path: string },
  ): Promise<RemoteFileWatch> {
    if (request.signal?.aborted) throw new ExecError('aborted', 'The watch was abandoned.');
    const watch = new RemoteFileWatch(client, request);
    try {
      await watch.#set();
    } catch (error) {
      await watch.#release();
      throw error;
    }
    request.signal?.addEventListener('abort', () => void watch.close(), { once: true });
    return watch;
  }

  get path(): string {
    return this.#path;
  }

  [Symbol.asyncIterator](): AsyncIterator<FileChanges> {
    return this.#reader.batches();
  }

  notified(method: string, params: unknown): void {
    if (method !== 'fs/changed') return;
    const outcome = execServerNotifications['fs/changed'].params.safeParse(params);
    if (!outcome.success || outcome.data.watchId !== this.#watchId) return;
    if (outcome.data.overflow) this.#log.overflow();
    for (const { path, kind } of outcome.data.changes) this.#log.add(pathText(parseFileUri(path)), kind);
  }

  online(): void {
    this.#set().then(
      () => this.#log.overflow(),
      () => void this.#release(),
    );
  }

  ended(): void {
    void this.#release();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#release();
    if (this.#client.usable)
      await this.#client.call('fs/unwatch', { watchId: this.#watchId }).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #set(): Promise<void> {
    const { path, recursive = false, debounceMs = 0, sandbox = null } = this.#request;
    const request = { watchId: this.#watchId, path, recursive, debounceMs, sandbox };
    this.#path = pathText(parseFileUri((await this.#client.call('fs/watch', request)).path));
  }

  async #release(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    this.#reader.close();
  }
}
