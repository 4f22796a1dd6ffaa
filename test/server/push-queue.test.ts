import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Outbox } from '../../src/rpc/index.js';
import { type PushSource, PushQueue } from '../../src/server/push/push-queue.js';
import { DeafChannel } from '../harness/deaf-channel.js';

const MESSAGE = 'x'.repeat(64 * 1024);

function open() {
  const channel = new DeafChannel();
  const outbox = new Outbox(channel);
  const queue = new PushQueue(outbox);
  const send = (): void => outbox.send(MESSAGE);
  return { channel, outbox, queue, send };
}

/** A process that always has more to say. */
function flood(send: () => void): PushSource & { count: number } {
  const source = {
    count: 0,
    pushOne: () => {
      source.count += 1;
      send();
      return true;
    },
  };
  return source;
}

test('a stream that takes a moment for each message gets as many turns as a process that floods', async () => {
  const { channel, queue, send } = open();
  const process = flood(send);
  queue.schedule(process);
  const stream = queue.openStream();
  const before = process.count;
  const reading = setInterval(() => channel.readEverything(), 0);
  for (let streamed = 0; streamed < 100; streamed += 1) {
    await nextTurn();
    await stream.push(send);
  }
  clearInterval(reading);
  stream.close();
  expect(process.count - before).toBeGreaterThan(50);
  expect(process.count - before).toBeLessThan(400);
});

test('streams wait while the outbox is full, and nobody waits for a connection that has ended', async () => {
  const { outbox, queue, send } = open();
  queue.schedule(flood(send));
  while (!outbox.full) await nextTurn();
  const { pendingBytes } = outbox;
  const stream = queue.openStream();
  let sent = false;
  const pushed = stream.push(() => {
    sent = true;
  });
  await nextTurn();
  expect({ sent, pendingBytes: outbox.pendingBytes }).toEqual({ sent: false, pendingBytes });
  queue.close();
  await pushed;
  await stream.push(send);
  expect({ sent, pendingBytes: outbox.pendingBytes }).toEqual({ sent: false, pendingBytes });
});

test('an open stream that has nothing to send holds up nobody', async () => {
  const { channel, queue, send } = open();
  queue.openStream();
  const process = flood(send);
  queue.schedule(process);
  while (process.count < 200) {
    await nextTurn();
    channel.readEverything();
  }
  expect(process.count).toBeGreaterThanOrEqual(200);
});
