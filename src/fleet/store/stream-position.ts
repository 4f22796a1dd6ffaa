/** Where a message is in its stream, from the subject on which it would be acknowledged. */
export interface StreamPosition {
  readonly seq: number;
  /** Counts the messages that a consumer was sent. */
  readonly delivery: number;
  readonly timeMs: number;
  /** How many more there are. */
  readonly pending: number;
}

/** The tokens before these, without and with a domain: `$JS.ACK.STREAM.CONSUMER` and `$JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER`. */
const PLAIN_TOKENS = 9;
const PLAIN_PREFIX = 4;
const DOMAIN_PREFIX = 6;

/** Reads `….DELIVERED.STREAM_SEQ.CONSUMER_SEQ.TIME.PENDING`; undefined if it is something else. */
export function positionOf(reply: string | undefined): StreamPosition | undefined {
  if (!reply?.startsWith('$JS.ACK.')) return undefined;
  const tokens = reply.split('.');
  const from = tokens.length === PLAIN_TOKENS ? PLAIN_PREFIX : DOMAIN_PREFIX;
  const [, seq = '', delivery = '', time = '', pending = ''] = tokens.slice(from);
  const position = {
    seq: Number(seq),
    delivery: Number(delivery),
    timeMs: Math.floor(Number(time) / 1_000_000),
    pending: Number(pending),
  };
  return Object.values(position).every(Number.isSafeInteger) ? position : undefined;
}
