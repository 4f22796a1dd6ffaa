import { expect, test } from 'vitest';
import { ProcessLog, ReaderHolds } from '../../src/contract/index.js';

/** A log that keeps nothing nobody holds, and what its readers make of it. */
function readLog() {
  const pressure: boolean[] = [];
  let moves = 0;
  const log = new ProcessLog({
    retainedBytes: 0,
    windowBytes: 10,
    onPressure: (paused) => pressure.push(paused),
  });
  const readers = new ReaderHolds(log, () => {
    moves += 1;
  });
  readers.holdFromStart();
  const write = (text: string): void => log.appendOutput('stdout', Buffer.from(text));
  return { log, readers, write, pressure, moves: () => moves };
}

test('output waits from the first byte on for somebody to read', async () => {
  const { log, readers, write, pressure } = readLog();
  write('12345');
  write('67890');
  expect([pressure, log.readSeq]).toEqual([[true], 0]);
  const events = readers.follow(0);
  expect(await events.next()).toMatchObject({ value: { type: 'output', seq: 1 } });
  expect([pressure, log.readSeq]).toEqual([[true], 0]);
  // Asking for the next one is what says that the one before was read.
  await events.next();
  expect([pressure, log.readSeq]).toEqual([[true, false], 1]);
});

test('it waits for the slowest reader, until that one goes', async () => {
  const { log, readers, write, moves } = readLog();
  write('a');
  write('b');
  const [slow, quick] = [readers.follow(0), readers.follow(0)];
  await quick.next();
  await quick.next();
  expect([log.readSeq, moves()]).toEqual([0, 1]);
  await slow.return?.();
  expect(log.readSeq).toBe(1);
  await quick.return?.();
  expect([log.readSeq, log.held]).toEqual([2, false]);
});

test('it waits no longer when somebody only waits for the end', () => {
  const { log, readers, write, pressure, moves } = readLog();
  write('1234567890');
  readers.stopHolding();
  expect([pressure, log.readSeq, log.held, moves()]).toEqual([[true, false], 1, false, 1]);
});
