import { BinaryMessage, type OutgoingMessage } from '../../rpc/index.js';
import { createDatagram, Flag, FRAGMENT_COST, HEADER_BYTES, Kind, MAX_FRAGMENT_BYTES } from './datagram.js';
import type { Counters } from './datagram.js';
import { Queue } from './queue.js';

/** A message, or a part of one, on its way out. */
interface Parcel {
  readonly pieces: readonly Uint8Array[];
  readonly bytes: number;
  /** How many have been sent. */
  sent: number;
  /** For all fragments, and for the last one. */
  readonly flags: number;
  readonly lastFlags: number;
  readonly flushed: () => void;
}

export interface OutgoingOptions {
  readonly post: (datagram: Buffer) => void;
  /** What we have received and grant, for the headers. */
  readonly incoming: () => Omit<Counters, 'seq'>;
  /** The most that may be unacknowledged. */
  readonly limit: () => number;
}

/** The sending half of a channel: cuts messages into numbered fragments, and keeps each until it was received. */
export class Outgoing {
  /** The number of the last fragment sent. */
  seq = 0;
  readonly #options: OutgoingOptions;
  readonly #parcels = new Queue<Parcel>();
  /** Sent fragments that are not known to have arrived: those after `#acknowledged`. */
  readonly #unacknowledged = new Queue<Buffer>();
  #unacknowledgedBytes = 0;
  #acknowledged = 0;
  #sentBytes = 0;
  #credit: number;
  #flushed: (() => void)[] = [];
  #isPumping = false;
  #hasResent = false;
  #isResendDue = false;

  constructor(credit: number, options: OutgoingOptions) {
    this.#credit = credit;
    this.#options = options;
  }

  /** Whether everything sent has arrived. */
  get isAcknowledged(): boolean {
    return this.#acknowledged === this.seq;
  }

  /** Whether something waits for credit. */
  get isWaiting(): boolean {
    return this.#parcels.first !== undefined;
  }

  /** Grows with everything that the other side acknowledges or grants. */
  get progress(): number {
    return this.#acknowledged + this.#credit;
  }

  send(pieces: readonly Uint8Array[], flags: { each: number; last: number }, flushed: () => void): void {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#parcels.push({ pieces, bytes, sent: 0, flags: flags.each, lastFlags: flags.last, flushed });
    this.#pump();
  }

  /** What the other side says. Returns false if it cannot be true. */
  heard({ received, credit }: Omit<Counters, 'seq'>): boolean {
    if (received > this.seq) return false;
    if (credit > this.#credit) this.#credit = credit;
    while (this.#acknowledged < received) {
      this.#acknowledged += 1;
      this.#unacknowledgedBytes -= costOf(this.#unacknowledged.shift());
    }
    this.#pump();
    return true;
  }

  /**
   * Sends everything again that has not arrived: at most once between two ticks, because a request of a few bytes causes a whole
   * window to be sent.
   */
  resend(): void {
    this.#isResendDue = this.#hasResent;
    if (this.#hasResent) return;
    this.#hasResent = true;
    for (const datagram of this.#unacknowledged.values()) this.#options.post(datagram);
  }

  /** Called ten times a second. */
  tick(): void {
    this.#hasResent = false;
    if (this.#isResendDue) this.resend();
  }

  /** Forgets what has not been sent yet. */
  discard(): void {
    this.#parcels.clear();
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    for (let parcel = this.#parcels.first; parcel; parcel = this.#parcels.first) {
      const bytes = Math.min(MAX_FRAGMENT_BYTES, parcel.bytes - parcel.sent);
      if (!this.#hasRoom(bytes, parcel)) break;
      this.#sendFragment(parcel, bytes);
      if (parcel.sent < parcel.bytes) continue;
      this.#parcels.shift();
      this.#reportFlushed(parcel.flushed);
    }
    this.#isPumping = false;
  }

  #hasRoom(bytes: number, { lastFlags }: Parcel): boolean {
    // The end of a channel needs no credit: a reader that has stopped reading must learn of it, too.
    if (lastFlags & Flag.fin) return true;
    const cost = bytes + FRAGMENT_COST;
    if (this.#sentBytes + cost > this.#credit) return false;
    return this.#unacknowledgedBytes === 0 || this.#unacknowledgedBytes + cost <= this.#options.limit();
  }

  #sendFragment(parcel: Parcel, bytes: number): void {
    this.seq += 1;
    const isLast = parcel.sent + bytes === parcel.bytes;
    const flags = isLast ? parcel.lastFlags : parcel.flags;
    const header = { kind: Kind.data, flags, seq: this.seq, ...this.#options.incoming() };
    const datagram = createDatagram(header, bytes);
    copyRange(parcel, bytes, datagram);
    parcel.sent += bytes;
    this.#sentBytes += bytes + FRAGMENT_COST;
    this.#unacknowledgedBytes += costOf(datagram);
    this.#unacknowledged.push(datagram);
    this.#options.post(datagram);
  }

  /** In a later turn of the event loop, as a socket would. */
  #reportFlushed(flushed: () => void): void {
    this.#flushed.push(flushed);
    if (this.#flushed.length > 1) return;
    setImmediate(() => {
      for (const each of this.#flushed.splice(0)) each();
    });
  }
}

function costOf(datagram: Buffer | undefined): number {
  return datagram ? datagram.length - HEADER_BYTES + FRAGMENT_COST : 0;
}

/** Copies the next bytes of a parcel behind the header, so that its buffers may be used again. */
function copyRange({ pieces, sent }: Parcel, bytes: number, target: Buffer): void {
  let skip = sent;
  let at = HEADER_BYTES;
  const end = HEADER_BYTES + bytes;
  for (const piece of pieces) {
    if (at === end) return;
    if (skip >= piece.length) {
      skip -= piece.length;
      continue;
    }
    const part = piece.subarray(skip, skip + end - at);
    target.set(part, at);
    at += part.length;
    skip = 0;
  }
}

/** The bytes of a message, without copying them. */
export function piecesOf(message: OutgoingMessage): readonly Uint8Array[] {
  if (message instanceof BinaryMessage) return [message.head, message.bytes];
  return [typeof message === 'string' ? Buffer.from(message) : message];
}
