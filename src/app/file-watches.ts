import type { FileChanges, FileSystem, FileWatch } from '../contract/index.js';
import { ExecError, isFileUri, parseFileUri } from '../protocol/index.js';
import type { HandlerContext } from './handler-context.js';

/** How long changes are collected, as in Codex. */
const DEBOUNCE_MS = 200;
/** Maximum watches per connection. Each may use one of the kernel's scarce descriptors. */
const MAX_WATCHES = 1024;

/** The watches of one connection, by the client's ids. Requests about one id arrive in order. */
export class FileWatches {
  readonly #context: HandlerContext;
  readonly #watches = new Map<string, FileWatch>();

  constructor(context: HandlerContext) {
    this.#context = context;
  }

  async add(watchId: string, place: { files: FileSystem; path: string }): Promise<void> {
    if (this.#watches.has(watchId)) {
      throw new ExecError('watchIdInUse', `watchId already exists: ${watchId}`);
    }
    if (this.#watches.size >= MAX_WATCHES) {
      throw new ExecError('overloaded', 'Server overloaded; retry later.');
    }
    const { signal } = this.#context;
    const watch = await place.files.watch(place.path, { debounceMs: DEBOUNCE_MS, signal });
    this.#watches.set(watchId, watch);
    void this.#report(watchId, { watch, path: place.path });
  }

  /** Nothing is sent for this watch afterwards. */
  async remove(watchId: string): Promise<void> {
    const watch = this.#watches.get(watchId);
    this.#watches.delete(watchId);
    await watch?.close();
  }

  async #report(watchId: string, place: { watch: FileWatch; path: string }): Promise<void> {
    try {
      for await (const changes of place.watch) {
        if (this.#watches.get(watchId) !== place.watch) return;
        this.#context.notify('fs/changed', { watchId, changedPaths: changedPaths(changes, place) });
        // Meanwhile the watch merges changes.
        await this.#context.room();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.log.warn({ watchId, reason }, 'a file watch ended');
    }
  }
}

/** Reports changes under the client's path, which may reach the watched path through links. */
function changedPaths(
  { changes, overflow }: FileChanges,
  { watch, path }: { watch: FileWatch; path: string },
): string[] {
  const paths = new Set(overflow ? [path] : []);
  for (const change of changes) paths.add(under(path, plainPath(change.path), watch.path));
  return [...paths].sort();
}

function under(wanted: string, changed: string, watched: string): string {
  if (changed === watched) return wanted;
  const inside = watched === '/' ? watched : `${watched}/`;
  const parent = wanted === '/' ? wanted : `${wanted}/`;
  return changed.startsWith(inside) ? parent + changed.slice(inside.length) : changed;
}

/** Names that are not UTF-8 have no exact text, and this protocol has plain paths only. */
function plainPath(path: string): string {
  return isFileUri(path) ? new TextDecoder().decode(parseFileUri(path)) : path;
}
