import { expect, test } from 'vitest';
import { ByteStream, UntakenRoom } from '../../src/rpc/index.js';

const MIB = 1024 * 1024;
/** The most that one stream may have in flight. */
const WINDOW_BYTES = 8 * MIB;
/** Always the same one: what counts is what a stream was sent. */
const piece = Buffer.alloc(MIB);

/** A stream whose reader has stopped. */
class Stopped {
  error: Error | undefined;
  untaken = 0;
  readonly stream: ByteStream;

  constructor(room: UntakenRoom) {
    this.stream = new ByteStream(
      {
        bytes: ({ length }) => void (this.untaken += length),
        ended: () => undefined,
        room: () => undefined,
        over: (error) => void (this.error = error),
      },
      room,
    );
  }

  /** Is sent as much as one stream may have in flight. */
  fill(): this {
    for (let offset = 0; offset < WINDOW_BYTES; offset += MIB)
      this.stream.receive({ offset, bytes: piece, end: false });
    return this;
  }
}

test('streams whose readers have stopped hold a bounded amount together', () => {
  const room = new UntakenRoom();
  const streams = Array.from({ length: 1_024 }, () => new Stopped(room).fill());
  const alive = streams.filter(({ error }) => error === undefined);
  const held = alive.reduce((sum, { untaken }) => sum + untaken, 0);
  expect(held).toBeGreaterThan(200 * MIB);
  expect(held).toBeLessThan(300 * MIB);
  expect(streams.at(-1)?.error?.message).toMatch(/more than programs take/);
  // Whoever stays within its first window is not affected.
  const modest = new Stopped(room);
  modest.stream.receive({ offset: 0, bytes: piece.subarray(0, 128 * 1024), end: false });
  expect(modest.error).toBeUndefined();
  // A reader that goes on, and a stream that is over, make room for others.
  const [first, second] = alive;
  first?.stream.taken(first.untaken);
  expect(new Stopped(room).fill().error).toBeUndefined();
  expect(new Stopped(room).fill().error).toBeDefined();
  second?.stream.fail();
  expect(new Stopped(room).fill().error).toBeUndefined();
});
