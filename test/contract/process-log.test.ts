import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { ProcessLog } from '../../src/contract/index.js';
import { followLog } from '../../src/contract/log-reader.js';

const bytes = (length: number): Uint8Array => new Uint8Array(length);
const exit = { exitCode: 0, signal: null, timedOut: false, sandboxDenied: false } as const;

/** A log that is used as the host uses it, with what it said about pressure. */
function makeLog(options: { retainedBytes?: number; windowBytes?: number } = {}): {
  log: ProcessLog;
  pressure: boolean[];
} {
  const pressure: boolean[] = [];
  return { log: new ProcessLog({ ...options, onPressure: (paused) => pressure.push(paused) }), pressure };
}

describe('process log', () => {
  test('numbers everything from 1 without a hole', () => {
    const { log } = makeLog();
    log.appendOutput('stdout', bytes(1));
    log.appendOutput('stderr', bytes(2));
    log.appendExited(exit);
    log.appendOutput('stdout', bytes(3));
    log.appendClosed();
    const seen = [];
    for (let seq = 0; ; seq += 1) {
      const event = log.next(seq);
      if (!event) break;
      seen.push([event.type, 'seq' in event ? event.seq : null]);
    }
    expect(seen).toEqual([
      ['output', 1],
      ['output', 2],
      ['exited', 3],
      ['output', 4],
      ['closed', 5],
    ]);
    expect(log.nextSeq).toBe(6);
  });

  test('lets the oldest go and says how much is missing, at the place', () => {
    const { log } = makeLog({ retainedBytes: 10 });
    for (let round = 0; round < 5; round += 1) log.appendOutput('stdout', bytes(4));
    expect(log.next(0)).toEqual({ type: 'gap', afterSeq: 0, beforeSeq: 4, lostBytes: 12 });
    expect(log.next(1)).toEqual({ type: 'gap', afterSeq: 1, beforeSeq: 4, lostBytes: 8 });
    expect(log.next(3)).toMatchObject({ type: 'output', seq: 4 });
    expect(log.read(0).chunks.map(({ seq, lostBytes }) => [seq, lostBytes])).toEqual([
      [4, 12],
      [5, 0],
    ]);
  });

  test('an exit is never forgotten, though output around it is', () => {
    const { log } = makeLog({ retainedBytes: 10 });
    for (let round = 0; round < 3; round += 1) log.appendOutput('stdout', bytes(6));
    log.appendExited(exit);
    for (let round = 0; round < 3; round += 1) log.appendOutput('stdout', bytes(6));
    expect(log.next(0)).toEqual({ type: 'gap', afterSeq: 0, beforeSeq: 4, lostBytes: 18 });
    expect(log.next(3)).toMatchObject({ type: 'exited', seq: 4 });
    expect(log.next(4)).toEqual({ type: 'gap', afterSeq: 4, beforeSeq: 7, lostBytes: 12 });
  });

  test('keeps what a hold has not consumed and pauses the source past the window', () => {
    const { log, pressure } = makeLog({ retainedBytes: 10, windowBytes: 20 });
    const hold = log.hold(0);
    for (let round = 0; round < 4; round += 1) log.appendOutput('stdout', bytes(6));
    expect(pressure).toEqual([true]);
    expect(log.next(0)).toMatchObject({ type: 'output', seq: 1 });
    hold.moveTo(1);
    expect(pressure).toEqual([true, false]);
    expect(log.next(0)).toMatchObject({ type: 'gap', lostBytes: 6 });
    expect(log.next(1)).toMatchObject({ type: 'output', seq: 2 });
    hold.moveTo(4);
    hold.release();
    expect(log.next(0)).toMatchObject({ type: 'gap', lostBytes: 18 });
  });

  test('the slowest of several holds decides', () => {
    const { log, pressure } = makeLog({ windowBytes: 10 });
    const slow = log.hold(0);
    const quick = log.hold(0);
    log.appendOutput('stdout', bytes(6));
    log.appendOutput('stdout', bytes(6));
    quick.moveTo(2);
    expect(pressure).toEqual([true]);
    slow.release();
    slow.release();
    expect(pressure).toEqual([true, false]);
  });

  test('counts stay right over 100,000 evicted chunks for recent positions', () => {
    const { log } = makeLog({ retainedBytes: 100 });
    for (let round = 0; round < 100_000; round += 1) log.appendOutput('stdout', bytes(10));
    expect(log.next(0)).toMatchObject({ beforeSeq: 99_991, lostBytes: 999_900 });
    expect(log.next(99_980)).toMatchObject({ afterSeq: 99_980, beforeSeq: 99_991, lostBytes: 100 });
  });

  test('maxBytes cuts between chunks, always returns one, and moves nextSeq to what was returned', () => {
    const { log } = makeLog();
    for (let round = 0; round < 3; round += 1) log.appendOutput('stdout', bytes(5));
    expect(log.read(0, 0)).toMatchObject({ chunks: [{ seq: 1 }], nextSeq: 2 });
    expect(log.read(0, 9)).toMatchObject({ chunks: [{ seq: 1 }], nextSeq: 2 });
    expect(log.read(0, 10).chunks.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(log.read(0, 100)).toMatchObject({ nextSeq: 4 });
    expect(log.read(3, 100)).toMatchObject({ chunks: [], nextSeq: 4 });
  });

  test('a follower consumes when it asks for the next, and releases when it stops early', async () => {
    const { log, pressure } = makeLog({ windowBytes: 4 });
    const events = followLog({ log, hold: log.hold(0), afterSeq: 0 });
    log.appendOutput('stdout', bytes(4));
    expect(pressure).toEqual([true]);
    expect((await events.next()).value).toMatchObject({ seq: 1 });
    expect(pressure).toEqual([true]);
    const next = events.next();
    await Promise.resolve();
    expect(pressure).toEqual([true, false]);
    log.appendOutput('stdout', bytes(4));
    expect((await next).value).toMatchObject({ seq: 2 });
    await events.return?.();
    expect(pressure.at(-1)).toBe(false);
  });

  test('a follower that never began does not hold the process up once it is given back', async () => {
    const { log, pressure } = makeLog({ windowBytes: 4 });
    const events = followLog({ log, hold: log.hold(0), afterSeq: 0 });
    log.appendOutput('stdout', bytes(4));
    await events.return?.();
    expect(pressure).toEqual([true, false]);
  });

  test('a failure is thrown after everything that came before it', async () => {
    const { log } = makeLog();
    const events = followLog({ log, hold: log.hold(0), afterSeq: 0 });
    log.appendOutput('stdout', bytes(1));
    log.fail(new Error('contact lost'));
    expect((await events.next()).value).toMatchObject({ seq: 1 });
    await expect(events.next()).rejects.toThrow('contact lost');
  });

  test('a copy can record a gap of its original', () => {
    const { log } = makeLog();
    log.appendOutput('stdout', bytes(1));
    log.appendGap(10, 500);
    log.appendOutput('stdout', bytes(1));
    expect(log.next(1)).toEqual({ type: 'gap', afterSeq: 1, beforeSeq: 10, lostBytes: 500 });
    expect(log.next(9)).toMatchObject({ type: 'output', seq: 10 });
  });

  test('a recorded gap counts when it is evicted in its turn', () => {
    const { log } = makeLog({ retainedBytes: 10 });
    log.appendOutput('stdout', bytes(4));
    log.appendGap(10, 500);
    for (let round = 0; round < 4; round += 1) log.appendOutput('stdout', bytes(4));
    expect(log.next(0)).toEqual({ type: 'gap', afterSeq: 0, beforeSeq: 12, lostBytes: 512 });
  });
});

test('what is let go is let go at once, not kept until there is much of it', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const MIB = 1024 * 1024;
  const log = new ProcessLog({ retainedBytes: MIB });
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 100; count += 1) log.appendOutput('stdout', new Uint8Array(MIB));
  const held = (): number => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers - before;
  };
  // What a collection finds is given back in the background.
  await expect.poll(held).toBeLessThan(30 * MIB);
  expect(log.read(0).chunks).toMatchObject([{ seq: 100, lostBytes: 99 * MIB }]);
});
