import { joinBytes } from '../../protocol/join-bytes.js';

/** Small pieces that are waiting are sent together, up to this size. */
const GATHER_BYTES = 64 * 1024;

/** The most bytes in one message, so that other messages get their turn. */
export const MAX_PIECE_BYTES = 256 * 1024;

/** Bytes to send, and the number of the first one. */
export interface NumberedBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Whether this is the end. It has a number, too: the one after the last byte. */
  readonly end: boolean;
}

/** Bytes for the other side. They are kept until acknowledged, because those in flight may be lost. */
export class OutgoingBytes {
  /** From `#acknowledged` on. */
  readonly #kept: Uint8Array[] = [];
  /** For pieces whose memory is reused. */
  readonly #release = new Map<Uint8Array, () => void>();
  /** How much of the first piece has been acknowledged. */
  #skipped = 0;
  #acknowledged = 0;
  #sent = 0;
  #total = 0;
  #ended = false;
  /** The piece to send next, and how much of it has been sent. */
  #piece = 0;
  #within = 0;

  /** Bytes not acknowledged, sent or not. */
  get unacknowledged(): number {
    return this.#total - Math.min(this.#acknowledged, this.#total);
  }

  /** The sent part of these. */
  get inFlight(): number {
    return Math.min(this.#sent, this.#total) - Math.min(this.#acknowledged, this.#total);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether everything has been acknowledged, including the end. */
  get done(): boolean {
    return this.#ended && this.#acknowledged > this.#total;
  }

  /** `release` is called once all of them have been acknowledged. */
  add(bytes: Uint8Array, release?: () => void): void {
    if (bytes.length === 0 || this.#ended) return;
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES)
      this.#kept.push(bytes.subarray(at, at + MAX_PIECE_BYTES));
    const last = this.#kept.at(-1);
    if (release && last) this.#release.set(last, release);
    this.#total += bytes.length;
  }

  finish(): void {
    this.#ended = true;
  }

  /** The bytes to send next; null if there are none. */
  next(): NumberedBytes | null {
    const isEndSent = this.#sent > this.#total;
    if (isEndSent || (this.#sent === this.#total && !this.#ended)) return null;
    const offset = this.#sent;
    const bytes = this.#gather();
    this.#sent += bytes.length;
    const end = this.#ended && this.#sent === this.#total;
    if (end) this.#sent += 1;
    return { offset, bytes, end };
  }

  /** Call when the other side has consumed everything before this number. False if that is impossible. */
  acknowledge(offset: number): boolean {
    if (offset > this.#sent) return false;
    if (offset <= this.#acknowledged) return true;
    let taken = Math.min(offset, this.#total) - Math.min(this.#acknowledged, this.#total) + this.#skipped;
    let pieces = 0;
    for (let piece = this.#kept[0]; piece && piece.length <= taken; piece = this.#kept[pieces]) {
      taken -= piece.length;
      pieces += 1;
    }
    for (const piece of this.#kept.splice(0, pieces)) this.#releasePiece(piece);
    this.#piece -= pieces;
    this.#skipped = taken;
    this.#acknowledged = offset;
    return true;
  }

  /** Call when the other side has received everything before this number and lost the rest. False if that is impossible. */
  resume(received: number): boolean {
    if (received < this.#acknowledged || received > this.#sent) return false;
    this.#sent = received;
    let ahead = Math.min(received, this.#total) - Math.min(this.#acknowledged, this.#total) + this.#skipped;
    this.#piece = 0;
    for (let piece = this.#kept[0]; piece && piece.length <= ahead; piece = this.#kept[this.#piece]) {
      ahead -= piece.length;
      this.#piece += 1;
    }
    this.#within = ahead;
    return true;
  }

  #releasePiece(piece: Uint8Array): void {
    this.#release.get(piece)?.();
    this.#release.delete(piece);
  }

  #gather(): Uint8Array {
    const first = this.#take();
    if (first.length >= GATHER_BYTES / 4) return first;
    const pieces = [first];
    let length = first.length;
    for (let next = this.#kept[this.#piece]; next; next = this.#kept[this.#piece]) {
      if (length + next.length > GATHER_BYTES) break;
      pieces.push(this.#take());
      length += next.length;
    }
    return joinBytes(pieces);
  }

  #take(): Uint8Array {
    const piece = this.#kept[this.#piece]?.subarray(this.#within) ?? new Uint8Array(0);
    if (piece.length > 0) this.#piece += 1;
    this.#within = 0;
    return piece;
  }
}
