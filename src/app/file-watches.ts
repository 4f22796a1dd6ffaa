import type { FileChanges, FileSystem, FileWatch } from '../contract/index.js';
import { ExecError, isFileUri, parseFileUri } from '../protocol/index.js';
import { ownTurn } from '../rpc/index.js';
import type { HandlerContext } from './handler-context.js';

/** How long changes are collected, as in Codex. */
const DEBOUNCE_MS = 200;
/** Maximum watches per connection. Each may use one of the kernel's scarce descriptors. */
const MAX_WATCHES = 1024;

/** What a watch has to tell about the client's path. */
interface Report {
  readonly watch: FileWatch;
  readonly path: string;
  readonly changes: FileChanges;
}

/** The watches of one connection, by the client's ids. Requests about one id arrive in order. */
export class FileWatches {
  readonly #context: HandlerContext;
  readonly #watches = new Map<string, FileWatch>();
  /** Ends when everything that had to be told so far is sent. */
  #sending: Promise<void> = Promise.resolve();
  /** Watches of one path report the same list, which may be long. */
  #recent: { readonly changes: FileChanges; readonly path: string; readonly json: string } | null = null;

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

  /** One at a time: a thousand watches may have the same to report. */
  async #send(watchId: string, report: Report): Promise<void> {
    await ownTurn();
    if (this.#watches.get(watchId) !== report.watch) return;
    const params = `{"watchId":${JSON.stringify(watchId)},"changedPaths":${this.#json(report)}}`;
    this.#context.notifyText('fs/changed', params);
    await this.#context.room();
  }

  #json(report: Report): string {
    const { changes, path } = report;
    if (this.#recent?.changes !== changes || this.#recent.path !== path)
      this.#recent = { changes, path, json: JSON.stringify(changedPaths(report)) };
    return this.#recent.json;
  }

  async #report(watchId: string, place: { watch: FileWatch; path: string }): Promise<void> {
    try {
      for await (const changes of place.watch) {
        if (this.#watches.get(watchId) !== place.watch) return;
        const sending = this.#sending.then(() => this.#send(watchId, { ...place, changes }));
        this.#sending = sending;
        // Meanwhile the watch merges changes.
        await sending;
        if (this.#sending === sending) this.#recent = null;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#context.log.warn({ watchId, reason }, 'a file watch ended');
    }
  }
}

/** Reports changes under the client's path, which may reach the watched path through links. */
function changedPaths({ watch, path, changes: { changes, overflow } }: Report): string[] {
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
