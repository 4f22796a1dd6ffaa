import type { FileChange, FileChanges, FileSystem, FileWatch } from '../../contract/index.js';
import { ExecError, type ExecParsedParams, fileUri } from '../../protocol/index.js';
import { ownTurn } from '../../rpc/index.js';
import type { ConnectionContext } from './connection-context.js';
import { wirePath } from './wire-path.js';

/** Each may use thousands of kernel watches, of which a machine has a limited number. */
const MAX_WATCHES = 64;

/** The active `fs/watch`es of one connection. They end with it. */
export class FileWatches {
  readonly #files: FileSystem;
  readonly #context: ConnectionContext;
  /** Null while the watch is being set up: the id is taken and counts. */
  readonly #watches = new Map<string, FileWatch | null>();
  /** Resolves when everything reported so far has been sent. */
  #sending: Promise<void> = Promise.resolve();
  /** Watches of one path report the same list, which may be long. */
  #recent: { readonly batch: FileChanges; readonly changes: FileChange[] } | null = null;

  constructor(files: FileSystem, context: ConnectionContext) {
    this.#files = files;
    this.#context = context;
  }

  get size(): number {
    return this.#watches.size;
  }

  async watch(params: ExecParsedParams<'fs/watch'>): Promise<{ path: string }> {
    const path = wirePath(params.path);
    this.#reserve(params.watchId);
    try {
      const watch = await this.#files.watch(path, {
        recursive: params.recursive ?? false,
        debounceMs: params.debounceMs ?? 0,
        sandbox: params.sandbox ?? null,
        signal: this.#context.signal,
      });
      this.#watches.set(params.watchId, watch);
      void this.#report(params.watchId, watch);
      return { path: fileUri(watch.path) };
    } catch (error) {
      this.#watches.delete(params.watchId);
      throw error;
    }
  }

  async unwatch(watchId: string): Promise<void> {
    const watch = this.#watches.get(watchId);
    this.#watches.delete(watchId);
    await watch?.close();
  }

  #reserve(watchId: string): void {
    if (this.#watches.has(watchId))
      throw new ExecError('watchIdInUse', 'a watch with this id is running already');
    if (this.#watches.size >= MAX_WATCHES)
      throw new ExecError('tooManyWatches', `at most ${MAX_WATCHES} watches can run at a time`);
    this.#watches.set(watchId, null);
  }

  /** Takes nothing from the watch while the connection is full, so the watch merges events meanwhile. */
  async #report(watchId: string, watch: FileWatch): Promise<void> {
    for await (const batch of watch) {
      if (this.#watches.get(watchId) !== watch) return;
      const sending = this.#sending.then(() => this.#send(watchId, { watch, batch }));
      this.#sending = sending;
      await sending;
      if (this.#sending === sending) this.#recent = null;
    }
  }

  /** One at a time: many watches may report the same changes. */
  async #send(watchId: string, { watch, batch }: { watch: FileWatch; batch: FileChanges }): Promise<void> {
    await ownTurn();
    if (this.#watches.get(watchId) !== watch) return;
    if (this.#recent?.batch !== batch)
      this.#recent = {
        batch,
        changes: batch.changes.map(({ path, kind }) => ({ path: fileUri(path), kind })),
      };
    const { changes } = this.#recent;
    await this.#context.notify('fs/changed', { watchId, changes, overflow: batch.overflow });
  }
}
