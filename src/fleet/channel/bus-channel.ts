import {
  BinaryMessage,
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  type OutgoingMessage,
  type PartPlace,
} from '../../rpc/index.js';
import { Assembly } from './assembly.js';
import { createDatagram, type Datagram, Flag, Kind } from './datagram.js';
import { Incoming } from './incoming.js';
import { Outgoing, piecesOf } from './outgoing.js';
import type { BusChannelOptions } from './bus-channel-options.js';
import { ChannelWatch } from './channel-watch.js';
import { CloseGrace } from './close-grace.js';
import { endText, resetDatagram } from './reset.js';

/**
 * A channel over datagrams that may be lost, repeated, late or out of order. Fragments are numbered, kept until they were
 * received, and sent again when the other side misses some. Neither side sends more than the other has granted.
 */
export class BusChannel implements Channel {
  readonly label: string;
  readonly carriesBytes = true;
  readonly #options: BusChannelOptions;
  readonly #outgoing: Outgoing;
  readonly #incoming: Incoming;
  readonly #assembly: Assembly;
  readonly #watch = new ChannelWatch();
  #receiver: ChannelReceiver | undefined;
  #isOpened = false;
  /** Set once we have closed. */
  #closing: CloseReason | undefined;
  readonly #grace = new CloseGrace();
  #end: CloseReason | undefined;
  /** The state last sent to the other side. */
  #told: { received: number; credit: number };
  /** The gap for which a resend was requested. */
  #askedAt = -1;

  constructor(options: BusChannelOptions) {
    this.label = options.label;
    this.#options = options;
    this.#assembly = new Assembly(options.unfinished);
    const limit = (): number => options.shares.limit;
    this.#incoming = new Incoming({
      first: options.granted,
      limit,
      fragment: (each) => this.#fragment(each),
    });
    this.#told = { received: 0, credit: this.#incoming.credit };
    this.#outgoing = new Outgoing(options.credit, {
      limit,
      incoming: () => (this.#told = { received: this.#incoming.received, credit: this.#incoming.credit }),
      post: (datagram) => options.post(datagram, { asks: false }),
    });
    options.shares.join();
  }

  /** What the other side may send in total. */
  get credit(): number {
    return this.#incoming.credit;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    // Delivery never begins from within `open`.
    setImmediate(() => {
      this.#isOpened = true;
      if (this.#end) return receiver.closed(this.#end);
      this.resume();
    });
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    const isFrame = message instanceof BinaryMessage;
    this.#sendPieces(piecesOf(message), { isLast: true, isFrame }, flushed);
  }

  sendPart(part: Uint8Array, place: PartPlace, flushed: () => void): void {
    this.#sendPieces([part], place, flushed);
  }

  pause(): void {
    this.#incoming.isPaused = true;
  }

  resume(): void {
    this.#incoming.isPaused = false;
    this.#incoming.deliver();
    this.#tellIfDue();
  }

  close(reason: string): void {
    if (this.#closing || this.#end) return;
    this.#closing = { clean: true, message: reason };
    // Messages that were not read by then stay unread.
    this.#incoming.discard();
    this.resume();
    this.#outgoing.send([endText(reason)], { each: 0, last: Flag.fin | Flag.last }, () => undefined);
  }

  reject(reason: string): void {
    this.close(reason);
  }

  leave(reason: string): void {
    this.close(reason);
    void this.#options.flush().finally(() => this.finish({ clean: true, message: reason }));
  }

  destroy(reason: string): void {
    this.#reset(reason);
    this.finish({ clean: false, message: reason });
  }

  /** A datagram has arrived. */
  receive(datagram: Datagram): void {
    if (this.#end) return;
    this.#watch.heard();
    if (!this.#outgoing.heard(datagram))
      return this.destroy('the other side acknowledged something that was never sent');
    if (datagram.kind === Kind.data) this.#data(datagram);
    else if (datagram.kind === Kind.state) this.#state(datagram);
    else if (datagram.kind === Kind.reset)
      this.finish(this.#closing ?? { clean: false, message: datagram.payload.toString('utf8') });
    if (this.#closing && this.#outgoing.isAcknowledged && !this.#outgoing.isWaiting)
      this.finish(this.#closing);
  }

  /** A message had no receiver. The other side may be about to reconnect. */
  nobody(): void {
    this.#watch.nobody();
  }

  /** The other side may be dead: it must answer soon. */
  probe(): void {
    this.#watch.probe();
    this.synchronize();
  }

  /** The bus has lost messages, or may have. */
  synchronize(): void {
    if (!this.#end) this.#tell(Flag.sync);
  }

  /** Called ten times a second. */
  tick(): void {
    this.#outgoing.tick();
    const { isAcknowledged, isWaiting, progress } = this.#outgoing;
    if (this.#closing && this.#grace.isOver(progress)) {
      this.#reset(this.#closing.message);
      return this.finish(this.#closing);
    }
    const decision = this.#watch.tick({ isWaiting: !isAcknowledged || isWaiting, progress });
    if (decision.giveUp !== undefined) return this.#giveUp(decision.giveUp);
    if (decision.sync) this.#tell(Flag.sync);
    else if (this.#hasNews()) this.#tell(0);
  }

  /** Ends the channel without another word to the other side. */
  finish(reason: CloseReason): void {
    if (this.#end) return;
    this.#end = reason;
    this.#incoming.isPaused = true;
    this.#incoming.discard();
    this.#outgoing.discard();
    this.#assembly.discard();
    this.#options.shares.leave();
    this.#options.ended();
    if (this.#isOpened) setImmediate(() => this.#receiver?.closed(reason));
  }

  #giveUp(why: string): void {
    this.#reset(why);
    this.finish({ clean: false, message: why, silent: true });
  }

  #sendPieces(pieces: readonly Uint8Array[], { isLast, isFrame }: PartPlace, flushed: () => void): void {
    if (this.#closing || this.#end) return;
    const each = isFrame ? Flag.frame : 0;
    this.#outgoing.send(pieces, { each, last: isLast ? each | Flag.last : each }, flushed);
  }

  #data(datagram: Datagram): void {
    const arrival = this.#incoming.accept(datagram);
    if (arrival === 'excessive') return this.destroy('the other side sent more than it was granted');
    if (this.#end) return;
    if (arrival === 'gap') this.#askAgain();
    else if (arrival === 'repeated') this.#tell(0);
    else this.#tellIfDue();
  }

  #state({ flags, seq }: Datagram): void {
    if (flags & Flag.resend) this.#outgoing.resend();
    const isAsked = (flags & Flag.sync) !== 0;
    if (isAsked) this.#askedAt = -1;
    // All of it was sent before this was.
    if (seq > this.#incoming.received) this.#askAgain();
    else if (isAsked) this.#tell(0);
  }

  /** Once for each gap; if that is lost, the other side asks with a sync. */
  #askAgain(): void {
    if (this.#askedAt === this.#incoming.received) return;
    this.#askedAt = this.#incoming.received;
    this.#tell(Flag.resend);
  }

  #fragment(datagram: Datagram): void {
    if (datagram.flags & Flag.fin) return this.#otherClosed(datagram.payload.toString('utf8'));
    if (this.#closing || !this.#receiver) return;
    const wrong = this.#assembly.add(datagram, this.#receiver);
    if (wrong !== undefined) this.destroy(wrong);
  }

  #otherClosed(message: string): void {
    this.#tell(0);
    this.finish({ clean: true, message });
  }

  /** Grants go out by themselves when the other side might wait for them; small ones wait for the next tick. */
  #tellIfDue(): void {
    const { credit, window } = this.#incoming;
    if (!this.#end && credit - this.#told.credit >= window / 4) this.#tell(0);
  }

  #hasNews(): boolean {
    return this.#told.received !== this.#incoming.received || this.#told.credit !== this.#incoming.credit;
  }

  #tell(flags: number): void {
    const { received, credit } = this.#incoming;
    this.#told = { received, credit };
    const datagram = createDatagram({ kind: Kind.state, flags, seq: this.#outgoing.seq, received, credit });
    this.#options.post(datagram, { asks: (flags & Flag.sync) !== 0 });
  }

  #reset(reason: string): void {
    if (!this.#end) this.#options.post(resetDatagram(reason), { asks: false });
  }
}
