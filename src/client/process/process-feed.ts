import { type ExitFacts, ProcessLog } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/index.js';
import { EventSequencer } from './event-sequencer.js';
import type { ProcessSink } from '../connection/process-sinks.js';
import { contactLost } from '../connection/remote-errors.js';
import { eventsOf, type Snapshot } from './snapshot.js';
import type { WireEvent } from '../connection/wire-event.js';

/** Bytes per read if the server retains the rest: small enough for a poor line. */
const CATCH_UP_BYTES = 256 * 1024;

export interface ProcessFeedOptions {
  readonly read: (request: { afterSeq: number; maxBytes?: number }) => Promise<Snapshot>;
  /**
   * Whether the server keeps output until it is acknowledged. Other servers may discard it, so everything is read at
   * once.
   */
  readonly acknowledged: () => boolean;
  /** The server may leave out numbers that a slow reader has missed: then they are read. Default false. */
  readonly skips?: boolean;
  /** Numbers that are left out are not read: a screen takes the place of what was missed. Default false. */
  readonly leavesGaps?: boolean | undefined;
  /** Called for every event appended to the log. */
  readonly onAppended: (event: WireEvent) => void;
  /** Called once, when no more events will arrive. */
  readonly onDone: (why: 'closed' | 'failed') => void;
  /** Called when the connection is restored, before gaps are filled. */
  readonly onResumed: () => void;
  /** Makes events arrive in a new session, from this position on. Absent if the process has ended with the old one. */
  readonly rejoin?: ((afterSeq: number) => Promise<unknown>) | undefined;
}

/**
 * Mirrors a server's process log: orders events, drops duplicates, and reads what was missed after a lost connection.
 */
export class ProcessFeed implements ProcessSink {
  readonly log = new ProcessLog();
  readonly #options: ProcessFeedOptions;
  readonly #sequencer = new EventSequencer();
  #started = false;
  #base = 0;
  #missed = false;
  /** How often the line has come back. */
  #resumes = 0;
  /** The latest attempt to continue in a new session. */
  #rejoining: Promise<unknown> | undefined;
  #catchingUp = false;
  /** The lowest number pushed since the connection was restored: nothing is missing from there on. */
  #liveSeq = Number.POSITIVE_INFINITY;
  #exitGate: ((facts: ExitFacts) => ExitFacts) | 'open' | 'closed' = 'open';

  constructor(options: ProcessFeedOptions) {
    this.#options = options;
  }

  /** The server has confirmed that the process exists, so gaps can be filled from now on. */
  started(): void {
    this.#started = true;
    this.#missed ||= this.#options.skips === true && this.#sequencer.hasHole;
    if (this.#missed) void this.#catchUp();
  }

  /** The server has confirmed that events follow from this position on. */
  startAfter(seq: number): void {
    if (seq > 0) {
      this.#sequencer.startAt(seq + 1);
      this.log.appendGap(seq + 1, 0);
    }
    this.#base = seq;
    this.#drain();
    this.started();
  }

  /** Everything up to this position is replaced by something else. */
  skipTo(seq: number): void {
    if (this.#over || seq < this.#sequencer.nextSeq) return;
    this.#sequencer.startAt(seq + 1);
    this.log.appendGap(seq + 1, 0);
    this.#drain();
  }

  /** The position before the first event. */
  get base(): number {
    return this.#base;
  }

  /** Settles once an attempt to continue in a new session is over; undefined if there is none. */
  get rejoining(): Promise<unknown> | undefined {
    return this.#rejoining;
  }

  receive(event: WireEvent): void {
    if (this.#over) return;
    const catchingUp = this.#catchingUp || this.#missed || (this.#options.skips === true && !this.#started);
    if (catchingUp) this.#liveSeq = Math.min(this.#liveSeq, event.seq);
    this.#sequencer.offer(event);
    this.#drain();
    if (this.#options.leavesGaps && !catchingUp && this.#sequencer.hasHole) this.skipTo(event.seq - 1);
    if (this.#options.skips && !catchingUp && this.#sequencer.hasHole) {
      this.#missed = true;
      this.#liveSeq = event.seq;
      void this.#catchUp();
      return;
    }
    if (this.#exitGate === 'closed' || !this.#sequencer.overflows({ catchingUp })) return;
    if (catchingUp) {
      this.#missed = true;
      this.#liveSeq = Number.POSITIVE_INFINITY;
      this.#sequencer.drop();
      return;
    }
    const missing = this.#sequencer.nextSeq;
    this.lost(new ExecError('protocolViolation', `The server skipped event ${missing} of a process.`));
  }

  interrupted(): void {
    this.#missed = true;
    this.#liveSeq = Number.POSITIVE_INFINITY;
  }

  resumed(): void {
    this.#options.onResumed();
    this.#resumes += 1;
    if (this.#started && !this.#rejoining) void this.#catchUp();
  }

  forgotten(error: ExecError): void {
    const { rejoin } = this.#options;
    if (rejoin && this.#started) void this.#rejoin(rejoin);
    else this.lost(error);
  }

  lost(error: ExecError): void {
    if (this.#over) return;
    this.log.fail(error);
    this.#sequencer.drop();
    this.#options.onDone('failed');
  }

  /** Withholds the exit until its cause is known. */
  holdExit(): void {
    this.#exitGate = 'closed';
  }

  /** Lets the exit through, modified by `amend`. */
  releaseExit(amend: (facts: ExitFacts) => ExitFacts): void {
    this.#exitGate = amend;
    this.#drain();
  }

  get #over(): boolean {
    return this.log.closed || this.log.failure !== undefined;
  }

  get #exitSeen(): boolean {
    return this.log.exit !== undefined || this.#sequencer.waiting.some((event) => event.type === 'exited');
  }

  #drain(): void {
    const allowed = (event: WireEvent): boolean => event.type !== 'exited' || this.#exitGate !== 'closed';
    for (let event = this.#sequencer.take(allowed); event; event = this.#sequencer.take(allowed)) {
      this.#append(event);
      this.#options.onAppended(event);
      if (event.type === 'closed') this.#options.onDone('closed');
    }
  }

  #append(event: WireEvent): void {
    if (event.type === 'output') this.log.appendOutput(event.stream, event.bytes);
    else if (event.type === 'gap') this.log.appendGap(event.beforeSeq, event.lostBytes);
    else if (event.type === 'closed') this.log.appendClosed();
    else {
      const gate = this.#exitGate;
      this.log.appendExited(typeof gate === 'function' ? gate(event.facts) : event.facts);
    }
  }

  async #rejoin(rejoin: (afterSeq: number) => Promise<unknown>): Promise<void> {
    this.#missed = true;
    const rejoining = rejoin(this.#sequencer.nextSeq - 1);
    this.#rejoining = rejoining;
    const failure: unknown = await rejoining.then(
      () => undefined,
      (error: unknown) => error,
    );
    // The new session may be forgotten as well: then there is a later attempt.
    if (this.#rejoining !== rejoining) return;
    this.#rejoining = undefined;
    if (failure === undefined) void this.#catchUp();
    else
      this.lost(
        isExecError(failure, 'contactLost') ? failure : contactLost('it could not be found again', failure),
      );
  }

  /** Reads until nothing is missing, including events that arrive meanwhile and do not fit. */
  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    const resumes = this.#resumes;
    try {
      while (this.#missed && !this.#over) {
        this.#missed = false;
        await this.#readOnce();
      }
    } catch (error) {
      this.#failedToCatchUp(error);
    } finally {
      this.#catchingUp = false;
    }
    // The connection was restored before the read on the old one had failed: nobody else reads what is missing.
    if (this.#missed && this.#resumes !== resumes && !this.#over) void this.#catchUp();
  }

  async #readOnce(): Promise<void> {
    const afterSeq = this.#sequencer.nextSeq - 1;
    const { read, acknowledged } = this.#options;
    const snapshot = await read(acknowledged() ? { afterSeq, maxBytes: CATCH_UP_BYTES } : { afterSeq });
    if (this.#over) return;
    if (snapshot.failure !== null) throw new ExecError('remoteError', 'The server lost the process.');
    const events = eventsOf(snapshot, {
      nextSeq: this.#sequencer.nextSeq,
      exit: this.#exitSeen,
      waiting: this.#sequencer.sizes,
    });
    for (const event of events) this.#sequencer.offer(event);
    this.#drain();
    const { nextSeq } = this.#sequencer;
    // An answer with output may have been truncated; one without is complete.
    if (snapshot.chunks.length > 0) this.#missed ||= nextSeq > afterSeq + 1 && nextSeq <= this.#liveSeq;
    else if ((snapshot.exited && !this.#exitSeen) || (snapshot.closed && !this.#closeSeen(snapshot))) {
      throw new ExecError('protocolViolation', 'The server reports an end that is missing from its events.');
    }
  }

  #closeSeen(snapshot: Snapshot): boolean {
    return this.log.closed || this.#sequencer.has(snapshot.nextSeq - 1);
  }

  #failedToCatchUp(error: unknown): void {
    // The connection was lost again. The next one triggers another attempt, or contact is lost for good.
    if (isExecError(error, 'connectionClosed')) return;
    // It continues in the next session.
    if (this.#options.rejoin && isExecError(error, 'contactLost')) return;
    const cause = isExecError(error) ? error : undefined;
    this.lost(
      cause?.code === 'contactLost' || cause?.code === 'protocolViolation'
        ? cause
        : contactLost('the rest of its output could not be read', error),
    );
  }
}
