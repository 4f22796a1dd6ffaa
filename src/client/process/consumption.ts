import { type ProcessEvent, type ProcessLog, ReaderHolds } from '../../contract/index.js';
import { MAX_UNREAD_BYTES } from '../connection/unread-budget.js';
import { UnreadLedger } from './unread-ledger.js';

/** Acknowledgements per window: often enough that the server never has to wait. */
const ACKNOWLEDGE_PARTS = 4;

export interface ConsumptionOptions {
  readonly log: ProcessLog;
  /** The server's window; undefined if it has no flow control or has not announced it yet. */
  readonly windowBytes: () => number | undefined;
  readonly acknowledge: (seq: number) => void;
  /** Called with the unread bytes added; negative once they were read or discarded. */
  readonly unreadChanged: (bytes: number) => void;
  /** Called when a server that promised flow control does not honour it. */
  readonly overrun: () => void;
}

/** Tracks how far the local log has been read, for the server and the connection. */
export class Consumption {
  readonly #options: ConsumptionOptions;
  readonly #ledger = new UnreadLedger();
  readonly #readers: ReaderHolds;
  #counted = true;
  #acknowledged = 0;
  #sinceAcknowledged = 0;

  constructor(options: ConsumptionOptions) {
    this.#options = options;
    this.#readers = new ReaderHolds(options.log, () => this.#advance());
    this.#readers.holdFromStart();
  }

  /** Output was appended to the log. */
  arrived(seq: number, bytes: number): void {
    this.#ledger.add(seq, bytes);
    if (this.#counted) this.#options.unreadChanged(bytes);
    this.#advance();
    // Far beyond any window. Without flow control the connection is paused instead, see `UnreadBudget`.
    const promised = this.#options.windowBytes() !== undefined;
    if (promised && this.#ledger.unreadBytes > MAX_UNREAD_BYTES) this.#options.overrun();
  }

  /** Reads from here on. */
  follow(afterSeq: number): AsyncIterableIterator<ProcessEvent> {
    return this.#readers.follow(afterSeq);
  }

  /** Output is no longer retained for a first reader. */
  stopHolding(): void {
    this.#readers.stopHolding();
  }

  /**
   * Unread output no longer counts against the connection: the process is being terminated and will write little more.
   */
  stopCounting(): void {
    if (!this.#counted) return;
    this.#counted = false;
    this.#options.unreadChanged(-this.#ledger.unreadBytes);
  }

  /** Repeats the last acknowledgement, which may have been lost with the connection. */
  acknowledgeAgain(): void {
    if (this.#acknowledged > 0) this.#options.acknowledge(this.#acknowledged);
  }

  #advance(): void {
    const { log } = this.#options;
    const position = log.readSeq;
    const bytes = this.#ledger.consume(position);
    if (this.#counted && bytes > 0) this.#options.unreadChanged(-bytes);
    this.#sinceAcknowledged += bytes;
    const windowBytes = this.#options.windowBytes();
    if (windowBytes === undefined || position <= this.#acknowledged) return;
    const finished = log.closed && position === log.nextSeq - 1;
    if (!finished && this.#sinceAcknowledged < windowBytes / ACKNOWLEDGE_PARTS) return;
    this.#acknowledged = position;
    this.#sinceAcknowledged = 0;
    this.#options.acknowledge(position);
  }
}
