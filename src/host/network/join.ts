import type { Duplex } from 'node:stream';

/** Joins two connections until both directions have ended. If one fails, so does the other. */
export function join(a: Duplex, b: Duplex): void {
  pass(a, b);
  pass(b, a);
}

/** One direction of it. */
export function pass(from: Duplex, to: Duplex): void {
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}
