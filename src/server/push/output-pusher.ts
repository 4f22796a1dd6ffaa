import type { LogHold, ProcessEvent } from '../../contract/index.js';
import { positionAfter } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import { exitExtras } from '../exit-extras.js';
import { type Compression, Shrinkage } from './compression.js';
import { type LineAccount, LineWindow, type OutgoingMessage } from '../../rpc/index.js';
import type { Departure } from './line-speed.js';
import { OutputMessage } from './output-message.js';
import type { PushQueue, PushSource } from './push-queue.js';

/** What a pusher needs of its session's connection. */
export interface PushTarget {
  readonly queue: PushQueue;
  /** What the connection may hold. */
  readonly account: LineAccount;
  /** Whether the client accepts binary frames. */
  readonly sendsBytes: boolean;
  /** Present if the client also accepts compressed frames. */
  readonly compression: Compression | undefined;
  /** `flushed` is called once the message has been sent and its bytes may be reused. */
  send(message: OutgoingMessage, flushed?: () => void): void;
}

export interface PusherOptions {
  readonly acknowledged: boolean;
  readonly windowBytes: number;
  /** Where to begin. Default 0. */
  readonly afterSeq?: number;
  /** Whether the program waits for this client. Default true. */
  readonly paces?: boolean;
  /** A client that is far behind is sent what is new; the numbers show what is missing. Default false. */
  readonly skipsWhenBehind?: boolean;
}

/** How far behind a client may be before it is sent a screen instead. */
const MAX_BEHIND_BYTES = 1024 * 1024;

/**
 * Turns the log of one process into notifications. The log may discard what has been sent or, if the client
 * acknowledges, what has been acknowledged.
 */
export class OutputPusher implements PushSource {
  readonly isResumable = true;
  readonly #process: LocalProcess;
  readonly #acknowledged: boolean;
  readonly #idText: string;
  readonly #output: OutputMessage;
  readonly #stopListening: () => void;
  readonly #windowBytes: number;
  readonly #skipsWhenBehind: boolean;
  #target: PushTarget | undefined;
  /** It had a target and lost it. */
  #isDetached = false;
  /** Only for clients that acknowledge. */
  #window: LineWindow | undefined;
  readonly #shrinkage = new Shrinkage();
  /** Messages in flight, where output may be compressed. */
  #departures: { readonly seq: number; readonly departure: Departure }[] = [];
  #position: number;
  /** Up to here the log may forget, as far as this client is concerned. */
  #settled: number;
  #paces: boolean;
  #hold: LogHold | undefined;

  constructor(process: LocalProcess, options: PusherOptions) {
    const { afterSeq = 0, paces = true } = options;
    this.#process = process;
    this.#acknowledged = options.acknowledged;
    this.#windowBytes = options.windowBytes;
    this.#skipsWhenBehind = options.skipsWhenBehind ?? false;
    this.#position = afterSeq;
    this.#settled = afterSeq;
    this.#paces = paces;
    this.#idText = JSON.stringify(process.processId);
    this.#output = new OutputMessage(this.#idText);
    if (paces) this.#hold = process.log.hold(afterSeq);
    this.#stopListening = process.log.subscribe(() => this.#target?.queue.schedule(this));
  }

  /** Pushes everything from its start position. */
  begin(target: PushTarget): void {
    this.#aim(target);
    target.queue.schedule(this);
  }

  /** Pushes from now on. The client reads the events missed in between itself. */
  attach(target: PushTarget): void {
    this.#aim(target);
    this.#position = this.#process.log.nextSeq - 1;
    if (this.#paces && !this.#process.log.closed) this.#hold ??= this.#process.log.hold(this.#position);
  }

  /** How far it has come. */
  get progress(): { readonly position: number; readonly settled: number } {
    return { position: this.#position, settled: this.#settled };
  }

  /** Continues where another server stopped, on the same connection. */
  continueAt(target: PushTarget, { position, settled }: { position: number; settled: number }): void {
    this.#aim(target);
    this.#release();
    this.#position = position;
    this.#settled = settled;
    if (this.#paces && !this.#process.log.closed) this.#hold = this.#process.log.hold(settled);
    target.queue.schedule(this);
  }

  /**
   * Makes the program wait for this client, or stops that. One it does not wait for is sent no more than it
   * acknowledges; what the log discards meanwhile is a gap in the numbers.
   */
  pace(paces: boolean): void {
    if (paces === this.#paces) return;
    this.#paces = paces;
    const { log } = this.#process;
    if (!paces) {
      this.#release();
      log.resizeWindow(this.#windowBytes);
    } else if (!log.closed && (this.#acknowledged || !this.#isDetached)) {
      this.#hold = log.hold(this.#settled);
      if (this.#window) log.resizeWindow(this.#window.bytes);
    }
  }

  /**
   * A client that acknowledges will find everything it has not acknowledged; for others the process keeps running and
   * old output is discarded.
   */
  detach(): void {
    this.#isDetached = true;
    this.#target?.queue.remove(this);
    this.#target?.compression?.line.lost(this.#takeDepartures(() => true));
    this.#target = undefined;
    this.#closeWindow();
    if (!this.#acknowledged) this.#release();
  }

  acknowledge(seq: number): void {
    if (!this.#acknowledged) return;
    this.#moveHold(Math.min(seq, this.#position));
    if (this.#window) {
      this.#window.acknowledged(seq, performance.now(), this.#process.log.unreadBytes);
      this.#target?.compression?.line.arrived(this.#takeDepartures((each) => each.seq <= seq));
      if (this.#paces) this.#process.log.resizeWindow(this.#window.bytes);
      if (!this.#pauses) this.#target?.queue.schedule(this);
    }
    this.#settle(seq);
  }

  /**
   * Output in flight when the connection broke is read again, so nothing is released before the end is acknowledged.
   */
  #settle(seq: number): void {
    const { log } = this.#process;
    if (!log.closed || seq < log.nextSeq - 1) return;
    this.#closeWindow();
    this.#release();
  }

  close(): void {
    this.#stopListening();
    this.detach();
    this.#release();
  }

  pushOne(): boolean {
    const { log } = this.#process;
    if (!this.#pauses && this.#window && this.#window.inFlight >= this.#window.bytes) return false;
    if (this.#skipsWhenBehind) this.#skip();
    const event = log.next(this.#position);
    if (!event || !this.#target) return false;
    this.#position = positionAfter(event);
    if (event.type === 'output') {
      this.#window?.sent({ seq: event.seq, bytes: event.bytes.length, at: performance.now() });
      const bytes = this.#output.send(event, this.#target, this.#shrinkage);
      const line = this.#window && this.#target.compression?.line;
      if (line) this.#departures.push({ seq: event.seq, departure: line.departed(bytes) });
    } else if (event.type !== 'gap') this.#target.send(this.#textOf(event));
    if (!this.#acknowledged) this.#moveHold(this.#position);
    if (event.type !== 'closed') return true;
    if (!this.#acknowledged) this.#release();
    return false;
  }

  /**
   * Leaves out what the client is behind, except for the newest entry, which shows it what is missing, and for how the
   * process has ended.
   */
  #skip(): void {
    const { log } = this.#process;
    if (log.bytesAfter(this.#position) <= MAX_BEHIND_BYTES) return;
    const newest = log.nextSeq - 1;
    const shown = log.exit && log.exit.seq > this.#position ? log.exit.seq : newest;
    this.#position = Math.max(this.#position, shown - 1);
  }

  /** Whether the program waits for this client. Otherwise it is sent no more than it acknowledges. */
  get #pauses(): boolean {
    return this.#paces && !this.#process.log.spills;
  }

  #aim(target: PushTarget): void {
    this.#isDetached = false;
    this.#target = target;
    if (this.#acknowledged) this.#window = new LineWindow(this.#windowBytes, target.account);
  }

  /** Removes and returns the leading departures for which `isOver` holds. */
  #takeDepartures(isOver: (each: { readonly seq: number }) => boolean): Departure[] {
    let count = 0;
    for (const each of this.#departures) {
      if (!isOver(each)) break;
      count += 1;
    }
    return this.#departures.splice(0, count).map(({ departure }) => departure);
  }

  #closeWindow(): void {
    this.#window?.reset();
    this.#window = undefined;
    if (this.#paces) this.#process.log.resizeWindow(this.#windowBytes);
  }

  #moveHold(seq: number): void {
    if (seq <= this.#settled) return;
    this.#settled = seq;
    this.#hold?.moveTo(seq);
  }

  #release(): void {
    this.#hold?.release();
    this.#hold = undefined;
  }

  #textOf(event: Exclude<ProcessEvent, { type: 'gap' | 'output' }>): string {
    const head = `"params":{"processId":${this.#idText},"seq":${event.seq}`;
    switch (event.type) {
      case 'exited': {
        const { exitCode, sandboxDenied, signal, timedOut } = event;
        const facts = { exitCode, sandboxDenied, signal, timedOut, ...exitExtras(event) };
        const details = JSON.stringify(facts).slice(1);
        return `{"method":"process/exited",${head},${details}}`;
      }
      case 'closed':
        return `{"method":"process/closed",${head}}}`;
    }
  }
}
