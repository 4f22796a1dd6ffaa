import type { ProcessEvent, ProcessSpec, ReadRequest, ReadResult } from '../../contract/index.js';
import { ExecError, type ServerCapabilities } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { Consumption } from './consumption.js';
import { ProcessFeed, type ProcessFeedOptions } from './process-feed.js';
import { readOnServer } from './read-on-server.js';

export interface RemoteOutputOptions extends Pick<ProcessFeedOptions, 'leavesGaps' | 'rejoin' | 'onDone'> {
  readonly client: ExecClient;
  readonly processId: string;
  readonly spec: Pick<ProcessSpec, 'onSlowReader' | 'retain'>;
  /** It continues without us. */
  readonly isKept: boolean;
  /** Called when the connection is another one. */
  readonly lineChanged: () => void;
}

/** The local copy of a process's log, and how far its readers have come: the server sends no more than they read. */
export class RemoteOutput {
  readonly feed: ProcessFeed;
  readonly consumption: Consumption;
  readonly #options: RemoteOutputOptions;

  constructor(options: RemoteOutputOptions) {
    this.#options = options;
    this.feed = this.#openFeed();
    this.consumption = this.#openConsumption();
  }

  /** True until the output is closed or contact is lost. */
  get live(): boolean {
    return !this.feed.log.closed && this.feed.log.failure === undefined;
  }

  events(afterSeq = this.feed.base): AsyncIterableIterator<ProcessEvent> {
    return this.consumption.follow(afterSeq);
  }

  async read({ afterSeq = 0, maxBytes, waitMs = 0, sinceMs }: ReadRequest): Promise<ReadResult> {
    const { client, processId, spec } = this.#options;
    const { log } = this.feed;
    if (waitMs > 0) await log.news(afterSeq, waitMs);
    // Only the server knows when it came.
    if (sinceMs !== undefined) return await readOnServer(client, processId, { afterSeq, maxBytes, sinceMs });
    const result = log.read(afterSeq, maxBytes);
    if (log.failure && result.chunks.length === 0) throw log.failure;
    const isIncomplete = (result.chunks[0]?.lostBytes ?? 0) > 0;
    return spec.retain === 'disk' && isIncomplete
      ? await readOnServer(client, processId, { afterSeq, maxBytes })
      : result;
  }

  #openFeed(): ProcessFeed {
    const { client, processId, spec, isKept, leavesGaps, rejoin, lineChanged, onDone } = this.#options;
    return new ProcessFeed({
      read: (request) => client.call('process/read', { processId, ...request }),
      acknowledged: () => this.#capabilities.flowControl !== undefined,
      skips: isKept || spec.onSlowReader === 'spool',
      leavesGaps,
      onAppended: (event) =>
        this.consumption.arrived(event.seq, event.type === 'output' ? event.bytes.length : 0),
      onResumed: () => {
        this.consumption.acknowledgeAgain();
        lineChanged();
      },
      rejoin,
      onDone,
    });
  }

  #openConsumption(): Consumption {
    const { client, processId } = this.#options;
    return new Consumption({
      log: this.feed.log,
      windowBytes: () => this.#capabilities.flowControl?.windowBytes,
      acknowledge: (seq) => client.notify('process/ack', { processId, seq }),
      unreadChanged: (bytes) => client.unreadBudget.add(bytes),
      overrun: () =>
        this.feed.lost(
          new ExecError('protocolViolation', 'The server sends more output than its window allows.'),
        ),
    });
  }

  /**
   * Of the server it was started on; on any other, contact would be lost. Unknown while its start is sent before the
   * handshake is answered.
   */
  get #capabilities(): ServerCapabilities {
    return this.#options.client.serverCapabilities;
  }
}
