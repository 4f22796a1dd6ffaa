import { expect, test } from 'vitest';
import { LocalProcess } from '../../src/host/index.js';
import { LineAccount, type Outbox } from '../../src/rpc/index.js';
import { Compression } from '../../src/server/push/compression.js';
import { OutputPusher, type PushTarget } from '../../src/server/push/output-pusher.js';
import { PushQueue } from '../../src/server/push/push-queue.js';

/** A connection that sends everything at once. */
function connection(): PushTarget & { compression: Compression } {
  const outbox = { full: false, onDrained: () => () => undefined } as unknown as Outbox;
  return {
    queue: new PushQueue(outbox),
    account: new LineAccount(),
    sendsBytes: true,
    compression: new Compression(),
    send: (_, flushed) => flushed?.(),
  };
}

test('nothing of a process counts as on its way once its end is acknowledged', async () => {
  const target = connection();
  await using child = new LocalProcess({
    argv: ['/bin/sh', '-c', 'head -c 100000 /dev/zero'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdin: 'null',
    terminal: null,
  });
  const pusher = new OutputPusher(child, { acknowledged: true, windowBytes: 1024 * 1024 });
  pusher.begin(target);
  await child.wait();
  while (pusher.pushOne());
  pusher.acknowledge(child.log.nextSeq - 1);
  // The rate of a line is measured from when it began to work, which is now: it was idle.
  const { at, deliveredAt } = target.compression.line.departed(1);
  expect(deliveredAt).toBe(at);
  pusher.close();
});
