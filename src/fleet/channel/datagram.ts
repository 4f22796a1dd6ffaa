/** What a datagram is for. */
export const Kind = {
  /** A fragment of a message, or the end of the channel. */
  data: 1,
  /** Only what every datagram says: what was sent, received and may be sent. */
  state: 2,
  /** The channel does not exist any more. */
  reset: 3,
} as const;

export const Flag = {
  /** data: completes its message. */
  last: 1,
  /** data: belongs to a binary frame. */
  frame: 2,
  /** data: the sender has closed the channel; the reason follows. */
  fin: 4,
  /** state: please answer with your own. */
  sync: 8,
  /** state: fragments after `received` are missing; please send them again. */
  resend: 16,
} as const;

/** Kind, flags and three numbers of eight bytes. */
export const HEADER_BYTES = 26;
/** What a fragment counts for beside its bytes, so that a million empty ones are not free. */
export const FRAGMENT_COST = 128;
/** Largest fragment. Larger ones slow NATS down. */
export const MAX_FRAGMENT_BYTES = 16 * 1024;

/** The numbers every datagram carries. All of them only ever grow, so late and repeated datagrams do no harm. */
export interface Counters {
  /** data: number of the fragment, from 1. Otherwise: the last one sent. */
  readonly seq: number;
  /** Everything up to this fragment has been received. */
  readonly received: number;
  /** How many bytes the other side may have sent in total. */
  readonly credit: number;
}

export interface Datagram extends Counters {
  readonly kind: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** Room for a datagram with this much payload, and its header. */
export function createDatagram(
  { kind, flags, seq, received, credit }: Omit<Datagram, 'payload'>,
  payloadBytes = 0,
): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);
  bytes[0] = kind;
  bytes[1] = flags;
  bytes.writeDoubleBE(seq, 2);
  bytes.writeDoubleBE(received, 10);
  bytes.writeDoubleBE(credit, 18);
  return bytes;
}

/** Parses a datagram. Null if it is none: anyone with access to the subject may send anything. */
export function readDatagram(data: Uint8Array): Datagram | null {
  if (data.length < HEADER_BYTES || data.length > HEADER_BYTES + MAX_FRAGMENT_BYTES) return null;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const datagram = {
    kind: data[0] ?? 0,
    flags: data[1] ?? 0,
    seq: bytes.readDoubleBE(2),
    received: bytes.readDoubleBE(10),
    credit: bytes.readDoubleBE(18),
    payload: bytes.subarray(HEADER_BYTES),
  };
  return [datagram.seq, datagram.received, datagram.credit].every(isCount) ? datagram : null;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
