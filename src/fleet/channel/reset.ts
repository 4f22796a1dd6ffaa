import { createDatagram, Kind, MAX_FRAGMENT_BYTES } from './datagram.js';

/** Tells the other side that a channel does not exist. */
export function resetDatagram(reason: string): Buffer {
  const text = endText(reason);
  const datagram = createDatagram(
    { kind: Kind.reset, flags: 0, seq: 0, received: 0, credit: 0 },
    text.length,
  );
  datagram.set(text, datagram.length - text.length);
  return datagram;
}

/** The reason for an end, cut to what fits. */
export function endText(reason: string): Buffer {
  return Buffer.from(reason).subarray(0, MAX_FRAGMENT_BYTES);
}
