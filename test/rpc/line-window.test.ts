import { expect, test } from 'vitest';
import { LineAccount } from '../../src/rpc/line-account.js';
import { LineWindow, MAX_WINDOW_BYTES } from '../../src/rpc/line-window.js';

const MEBIBYTE = 1024 * 1024;
const CHUNK = 64 * 1024;

/** A program that always has more to say, a line, and a reader, in made-up time. */
class Simulation {
  readonly window: LineWindow;
  now = 1000;
  largest = 0;
  #seq = 0;
  #unread = 0;
  /** When each chunk was read, as the sender learns. */
  readonly #reads: { seq: number; at: number }[] = [];
  #readUntil = 0;

  constructor(account = new LineAccount()) {
    this.window = new LineWindow(MEBIBYTE, account);
  }

  /** Runs for some time over a line with this round trip, read at this rate. */
  run(ms: number, { roundTripMs, bytesPerMs }: { roundTripMs: number; bytesPerMs: number }): void {
    const end = this.now + ms;
    while (this.now < end) {
      while (this.#unread < this.window.bytes) {
        this.#seq += 1;
        this.#unread += CHUNK;
        this.window.sent({ seq: this.#seq, bytes: CHUNK, at: this.now });
        this.#readUntil = Math.max(this.#readUntil, this.now + roundTripMs / 2) + CHUNK / bytesPerMs;
        this.#reads.push({ seq: this.#seq, at: this.#readUntil + roundTripMs / 2 });
      }
      this.largest = Math.max(this.largest, this.#unread);
      const next = this.#reads.shift();
      if (!next) break;
      this.now = next.at;
      this.#unread -= CHUNK;
      // The client acknowledges a quarter of a mebibyte at a time.
      if (next.seq % 4 === 0) this.window.acknowledged(next.seq, this.now);
    }
  }
}

test('a far reader that keeps up gets what its line holds', () => {
  const line = new Simulation();
  line.run(2000, { roundTripMs: 80, bytesPerMs: 125_000 });
  expect(line.window.bytes).toBeGreaterThan(10 * MEBIBYTE);
});

test('a near reader keeps the first window', () => {
  const line = new Simulation();
  line.run(1000, { roundTripMs: 0.2, bytesPerMs: 300_000 });
  expect(line.window.bytes).toBeLessThan(2 * MEBIBYTE);
});

test('a reader that is slow itself gets no more, near or far', () => {
  for (const roundTripMs of [0.2, 80]) {
    const line = new Simulation();
    line.run(20_000, { roundTripMs, bytesPerMs: 1000 });
    expect(line.window.bytes).toBe(MEBIBYTE);
  }
});

test('a reader that stops costs no more than the bound', () => {
  const line = new Simulation();
  line.run(5000, { roundTripMs: 500, bytesPerMs: 1_000_000 });
  expect(line.largest).toBeLessThanOrEqual(MAX_WINDOW_BYTES + CHUNK);
});

test('a window shrinks when the reader becomes slow', () => {
  const line = new Simulation();
  line.run(2000, { roundTripMs: 80, bytesPerMs: 125_000 });
  line.run(30_000, { roundTripMs: 80, bytesPerMs: 2000 });
  expect(line.window.bytes).toBeLessThan(2 * MEBIBYTE);
});

test('processes of one connection share its account, and give it back', () => {
  const account = new LineAccount(8 * MEBIBYTE);
  const [first, second] = [new Simulation(account), new Simulation(account)];
  for (const line of [first, second]) line.run(2000, { roundTripMs: 200, bytesPerMs: 125_000 });
  expect(first.window.bytes + second.window.bytes).toBe(10 * MEBIBYTE);
  expect(second.window.bytes).toBe(MEBIBYTE);
  first.window.reset();
  expect(first.window.bytes).toBe(MEBIBYTE);
  second.run(2000, { roundTripMs: 200, bytesPerMs: 125_000 });
  expect(second.window.bytes).toBeGreaterThan(4 * MEBIBYTE);
  expect(second.window.bytes).toBeLessThanOrEqual(9 * MEBIBYTE);
});

test('with a limit to waiting, a slow line is full and nothing waits longer than that', () => {
  const roundTripMs = 80;
  const bytesPerMs = 5000;
  const window = new LineWindow(256 * 1024, new LineAccount(), { queueMs: 25 });
  let now = 0;
  let lineFreeAt = 0;
  let inFlight = 0;
  let delivered = 0;
  const answers: { seq: number; at: number }[] = [];
  for (let seq = 1; now < 5000; ) {
    while (inFlight + CHUNK <= window.bytes) {
      window.sent({ seq, bytes: CHUNK, at: now });
      lineFreeAt = Math.max(lineFreeAt, now) + CHUNK / bytesPerMs;
      answers.push({ seq, at: lineFreeAt + roundTripMs });
      inFlight += CHUNK;
      seq += 1;
    }
    const next = answers.shift();
    if (!next) break;
    now = next.at;
    inFlight -= CHUNK;
    delivered += CHUNK;
    window.acknowledged(next.seq, now);
  }
  expect(delivered / now).toBeGreaterThan(0.9 * bytesPerMs);
  expect(lineFreeAt - now).toBeLessThan(25 + CHUNK / bytesPerMs);
});
