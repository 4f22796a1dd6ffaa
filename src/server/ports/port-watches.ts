import { type ListeningPort, PortChanges, type PortsOptions } from '../../contract/index.js';
import { listListeners, type TreeOwner, visiblePorts, watchListeners } from '../../host/index.js';
import { ExecError } from '../../protocol/index.js';
import type { ConnectionContext } from '../handlers/connection-context.js';

/** A client needs one, or one for each scope. */
const MAX_WATCHES = 16;

/** The `port/watch`es of one connection. They end with it. */
export class PortWatches {
  readonly #ownerOf: (treeId: number) => TreeOwner | undefined;
  readonly #context: ConnectionContext;
  readonly #watches = new Map<string, PortChanges>();

  constructor(ownerOf: (treeId: number) => TreeOwner | undefined, context: ConnectionContext) {
    this.#ownerOf = ownerOf;
    this.#context = context;
    context.owns(() => this.#watches.size > 0);
  }

  /** Returns what is open now. Only what differs from it is reported later. */
  async open(watchId: string, options: PortsOptions): Promise<ListeningPort[]> {
    if (this.#watches.has(watchId))
      throw new ExecError('watchIdInUse', 'a watch with this id is running already');
    if (this.#watches.size >= MAX_WATCHES)
      throw new ExecError('tooManyWatches', `at most ${MAX_WATCHES} watches of ports can run at a time`);
    let stop = (): void => undefined;
    const changes = new PortChanges(() => stop());
    this.#watches.set(watchId, changes);
    const ports = visiblePorts(await listListeners(), this.#ownerOf, options);
    changes.set(ports);
    while (changes.take() !== null);
    if (this.#watches.get(watchId) !== changes || this.#context.signal.aborted) return ports;
    stop = watchListeners((found) => changes.set(visiblePorts(found, this.#ownerOf, options)));
    this.#context.signal.addEventListener('abort', () => this.end(watchId), { once: true });
    // The answer leaves first.
    setImmediate(() => void this.#report(watchId, changes));
    return ports;
  }

  end(watchId: string): void {
    void this.#watches.get(watchId)?.close();
    this.#watches.delete(watchId);
  }

  /** Reads nothing while the connection is full, so a port that opens and closes in the meantime is not reported. */
  async #report(watchId: string, changes: PortChanges): Promise<void> {
    for await (const { type, ...port } of changes) {
      if (this.#watches.get(watchId) !== changes) return;
      await this.#context.notify(type === 'opened' ? 'port/opened' : 'port/closed', { watchId, ...port });
    }
  }
}
