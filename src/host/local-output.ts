import {
  type HistoryPage,
  type HistoryRequest,
  type LinesPage,
  type LinesRequest,
  type OutputMatches,
  type OutputSearch,
  type ProcessEvent,
  type ProcessLog,
  ReaderHolds,
  type ReadRequest,
  type ReadResult,
  seqBefore,
} from '../contract/index.js';

/** Loaded where it is wanted: most programs search nothing. */
const lines = (): Promise<typeof import('../lines/index.js')> => import('../lines/index.js');

/** What a local process has printed, for those who read it. */
export class LocalOutput {
  readonly #log: ProcessLog;
  readonly #readers: ReaderHolds;

  constructor(log: ProcessLog) {
    this.#log = log;
    this.#readers = new ReaderHolds(log);
  }

  holdFromStart(): void {
    this.#readers.holdFromStart();
  }

  stopHolding(): void {
    this.#readers.stopHolding();
  }

  events(afterSeq: number): AsyncIterableIterator<ProcessEvent> {
    return this.#readers.follow(afterSeq);
  }

  async read({ afterSeq = 0, waitMs = 0, sinceMs, maxBytes }: ReadRequest): Promise<ReadResult> {
    if (waitMs > 0) await this.#log.news(afterSeq, waitMs);
    const since = sinceMs === undefined ? 0 : seqBefore(this.#log, sinceMs);
    return this.#log.read(Math.max(afterSeq, since), maxBytes);
  }

  async search(request: OutputSearch): Promise<OutputMatches> {
    const { searchLog } = await lines();
    return await searchLog(this.#log, request);
  }

  async readLines(request: LinesRequest): Promise<LinesPage> {
    const { readLogLines } = await lines();
    return await readLogLines(this.#log, request);
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    if (request.waitMs) await this.#log.historyNews(request);
    return this.#log.history(request);
  }
}
