import type { FileSystem, FileWatch } from '../../contract/index.js';
import { ExecError, type ExecParsedParams, fileUri } from '../../protocol/index.js';
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

  constructor(files: FileSystem, context: ConnectionContext) {
    this.#files = files;
    this.#context = context;
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
    for await (const { changes, overflow } of watch) {
      if (this.#watches.get(watchId) !== watch) return;
      const shown = changes.map(({ path, kind }) => ({ path: fileUri(path), kind }));
      await this.#context.notify('fs/changed', { watchId, changes: shown, overflow });
    }
  }
}
