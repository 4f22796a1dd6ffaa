import {
  type HistoryPage,
  type HistoryRequest,
  type LinesPage,
  type LinesRequest,
  logEnd,
  type OutputMatches,
  type OutputSearch,
  type ProcessEnd,
  type ProcessEvent,
  ProcessHandle,
  type ProcessLog,
  ReaderHolds,
  type ReadRequest,
  type ReadResult,
  seqBefore,
} from '../contract/index.js';

/** Loaded where it is needed: most programs search nothing. */
const lines = (): Promise<typeof import('../lines/index.js')> => import('../lines/index.js');

/** A process whose log is at hand: everything about it that can be answered from the log. */
export abstract class LoggedProcess extends ProcessHandle {
  abstract readonly log: ProcessLog;
  #holds: ReaderHolds | undefined;

  /**
   * Keeps all output from the first byte on for the owner of this handle, until someone reads it or only waits for the
   * end.
   */
  holdFromStart(): void {
    this.#readers.holdFromStart();
  }

  /** From here on the reader's progress is tracked elsewhere. */
  stopHolding(): void {
    this.#readers.stopHolding();
  }

  override events(options: { afterSeq?: number } = {}): AsyncIterableIterator<ProcessEvent> {
    return this.#readers.follow(options.afterSeq ?? 0);
  }

  override async read(request: ReadRequest = {}): Promise<ReadResult> {
    const { afterSeq = 0, waitMs = 0, sinceMs, maxBytes } = request;
    if (waitMs > 0) await this.log.news(afterSeq, waitMs);
    const since = sinceMs === undefined ? 0 : seqBefore(this.log, sinceMs);
    return this.log.read(Math.max(afterSeq, since), maxBytes);
  }

  override async search(request: OutputSearch): Promise<OutputMatches> {
    const { searchLog } = await lines();
    return await searchLog(this.log, request);
  }

  override async readLines(request: LinesRequest = {}): Promise<LinesPage> {
    const { readLogLines } = await lines();
    return await readLogLines(this.log, request);
  }

  protected override async historyPage(request: HistoryRequest): Promise<HistoryPage> {
    if (request.waitMs) await this.log.historyNews(request);
    return this.log.history(request);
  }

  override async wait(): Promise<ProcessEnd> {
    this.stopHolding();
    return await logEnd(this.log);
  }

  get #readers(): ReaderHolds {
    this.#holds ??= new ReaderHolds(this.log);
    return this.#holds;
  }
}
