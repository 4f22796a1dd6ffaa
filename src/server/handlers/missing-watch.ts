import type { FileSystem, MissingWatch } from '../../contract/index.js';
import type { ExecParsedParams } from '../../protocol/index.js';
import type { ConnectionContext } from './connection-context.js';
import { wirePath } from './wire-path.js';

export type MissingWatchParams = ExecParsedParams<'fs/watchMissing'>;

/** The only `fs/watchMissing` a connection may have. */
export class MissingWatchSlot {
  readonly #files: FileSystem;
  readonly #context: ConnectionContext;
  #lastId = 0;
  #current: MissingWatch | null = null;
  #params: MissingWatchParams | null = null;

  constructor(files: FileSystem, context: ConnectionContext) {
    this.#files = files;
    this.#context = context;
  }

  /** The paths being watched; null if there are none. */
  get watched(): MissingWatchParams | null {
    return this.#current && this.#params;
  }

  async watch(params: MissingWatchParams): Promise<{ watching: boolean }> {
    const missing = params.missing.map(wirePath);
    const present = params.present == null ? null : wirePath(params.present);
    if (params.watchId <= this.#lastId) return { watching: false };
    this.#lastId = params.watchId;
    await this.#current?.close();
    this.#current = await this.#files.watchMissing(missing, { present, signal: this.#context.signal });
    if (this.#current === null) return { watching: false };
    this.#params = params;
    if (this.#context.signal.aborted) await this.#current.close();
    void this.#report(params.watchId, this.#current);
    return { watching: true };
  }

  async #report(watchId: number, watch: MissingWatch): Promise<void> {
    const hasChanged = await watch.changed;
    if (watch !== this.#current) return;
    this.#current = null;
    if (hasChanged) await this.#context.notify('fs/missingChanged', { watchId });
  }
}
