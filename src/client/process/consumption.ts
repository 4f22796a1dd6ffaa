import type { LogHold, ProcessLog } from '../../contract/index.js';
import { MAX_UNREAD_BYTES } from '../connection/unread-budget.js';
import { UnreadLedger } from './unread-ledger.js';

/** How much of a window may be consumed before the server is told: often enough that it never has to wait. */
const ACKNOWLEDGE_PARTS = 4;

export interface ConsumptionOptions {
  readonly log: ProcessLog;
  /** The server's window; undefined when it does not hold back. */
  readonly windowBytes: number | undefined;
  readonly acknowledge: (seq: number) => void;
  /** Told how many unread bytes were added, or, negative, read or let go. */
  readonly unreadChanged: (bytes: number) => void;
  /** Called when a server that promised to hold back does not. */
  readonly overrun: () => void;
}

/**
 * Who has read how far. Until somebody reads, output waits from the beginning, as in a pipe; from then on it waits for
 * the slowest reader. Waiting for the end while nobody reads lets output pass.
 */
export class Consumption {
  readonly #options: ConsumptionOptions;
  readonly #ledger = new UnreadLedger();
  readonly #readers = new Set<{ position: number }>();
  /** Held for whoever reads first. */
  #firstHold: LogHold | undefined;
  #counted = true;
  #acknowledged = 0;
  #sinceAcknowledged = 0;

  constructor(options: ConsumptionOptions) {
    this.#options = options;
    this.#firstHold = options.log.hold(0);
  }

  /** Output that went into the log. */
  arrived(seq: number, bytes: number): void {
    this.#ledger.add(seq, bytes);
    if (this.#counted) this.#options.unreadChanged(bytes);
    this.#advance();
    // Far beyond any window: without a promise the connection is stopped instead, see `UnreadBudget`.
    const promised = this.#options.windowBytes !== undefined;
    if (promised && this.#ledger.unreadBytes > MAX_UNREAD_BYTES) this.#options.overrun();
  }

  /** A reader from a position on. Moving and releasing it is what counts as reading. */
  open(afterSeq: number): LogHold {
    const reader = { position: afterSeq };
    const hold = this.#options.log.hold(afterSeq);
    this.#readers.add(reader);
    this.#releaseFirstHold();
    return {
      moveTo: (seq) => {
        reader.position = Math.max(reader.position, seq);
        hold.moveTo(seq);
        this.#advance();
      },
      release: () => {
        if (!this.#readers.delete(reader)) return;
        hold.release();
        this.#advance();
      },
    };
  }

  /** Output no longer waits for somebody to begin reading. */
  stopHolding(): void {
    this.#releaseFirstHold();
    this.#advance();
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

  #releaseFirstHold(): void {
    this.#firstHold?.release();
    this.#firstHold = undefined;
  }

  /** Everything up to here was read by all who read, or nobody does. */
  #position(): number {
    if (this.#firstHold) return 0;
    let position = this.#options.log.nextSeq - 1;
    for (const reader of this.#readers) position = Math.min(position, reader.position);
    return position;
  }

  #advance(): void {
    const position = this.#position();
    const bytes = this.#ledger.consume(position);
    if (this.#counted && bytes > 0) this.#options.unreadChanged(-bytes);
    this.#sinceAcknowledged += bytes;
    const { log, windowBytes } = this.#options;
    if (windowBytes === undefined || position <= this.#acknowledged) return;
    const finished = log.closed && position === log.nextSeq - 1;
    if (!finished && this.#sinceAcknowledged < windowBytes / ACKNOWLEDGE_PARTS) return;
    this.#acknowledged = position;
    this.#sinceAcknowledged = 0;
    this.#options.acknowledge(position);
  }
}
