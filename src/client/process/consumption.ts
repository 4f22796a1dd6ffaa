import { type ProcessEvent, type ProcessLog, ReaderHolds } from '../../contract/index.js';
import { MAX_UNREAD_BYTES } from '../connection/unread-budget.js';
import { UnreadLedger } from './unread-ledger.js';

/** How much of a window may be consumed before the server is told: often enough that it never has to wait. */
const ACKNOWLEDGE_PARTS = 4;

export interface ConsumptionOptions {
  readonly log: ProcessLog;
  /** The server's window; undefined when it does not hold back, or has not said so yet. */
  readonly windowBytes: () => number | undefined;
  readonly acknowledge: (seq: number) => void;
  /** Told how many unread bytes were added, or, negative, read or let go. */
  readonly unreadChanged: (bytes: number) => void;
  /** Called when a server that promised to hold back does not. */
  readonly overrun: () => void;
}

/** How far the readers of a copy are, as far as its server and its connection have to know. */
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

  /** Output that went into the log. */
  arrived(seq: number, bytes: number): void {
    this.#ledger.add(seq, bytes);
    if (this.#counted) this.#options.unreadChanged(bytes);
    this.#advance();
    // Far beyond any window: without a promise the connection is stopped instead, see `UnreadBudget`.
    const promised = this.#options.windowBytes() !== undefined;
    if (promised && this.#ledger.unreadBytes > MAX_UNREAD_BYTES) this.#options.overrun();
  }

  /** Somebody reads from here on. */
  follow(afterSeq: number): AsyncIterableIterator<ProcessEvent> {
    return this.#readers.follow(afterSeq);
  }

  /** Output no longer waits for somebody to begin reading. */
  stopHolding(): void {
    this.#readers.stopHolding();
  }

  /** What is unread no longer counts against the connection: the process is being ended and will write little. */
  stopCounting(): void {
    if (!this.#counted) return;
    this.#counted = false;
    this.#options.unreadChanged(-this.#ledger.unreadBytes);
  }

  /** Tells the server again how far reading is: the last word may have been lost with the connection. */
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
