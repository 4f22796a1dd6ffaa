import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { UnsentBytes } from '../../src/transport/unsent-bytes.js';
import { TestFolder } from '../harness/processes.js';

/** Both ends of a connection over a unix socket, whose buffers are small. */
async function connected(folder: TestFolder): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(folder.file('socket'));
  await once(server, 'listening');
  const near = connect(folder.file('socket'));
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { near, far };
}

function numbered(length: number, from: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));
}

test('what has not left is exactly what the other side does not get', async () => {
  using folder = new TestFolder();
  const { near, far } = await connected(folder);
  const unsent = new UnsentBytes(near);
  let written = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const chunk = numbered(1 + ((round * 977) % 3_000), written);
    written += chunk.length;
    if (round % 10 === 0) near.cork();
    near.write(chunk, () => unsent.prune());
    if (round % 10 === 5) near.uncork();
    if (round % 100 === 0) await nextTurn();
  }
  near.uncork();
  const rest = unsent.read() ?? Buffer.alloc(0);
  // Nothing else leaves: the connection is cut here, and what is in the kernel can still be read.
  near.destroy();
  far.resume();
  let received = 0;
  far.on('data', (data: Buffer) => {
    received += data.length;
  });
  far.on('error', () => undefined);
  await once(far, 'close');
  expect(rest.length).toBeGreaterThan(100_000);
  expect(received + rest.length).toBe(written);
  expect(rest.equals(numbered(rest.length, received))).toBe(true);
});

test('nothing is kept of what has left', async () => {
  using folder = new TestFolder();
  const { near, far } = await connected(folder);
  far.resume();
  const unsent = new UnsentBytes(near);
  for (let round = 0; round < 1_000; round += 1) near.write(numbered(100, round), () => unsent.prune());
  while (near.writableLength > 0) await nextTurn();
  expect(unsent.read()).toEqual(Buffer.alloc(0));
  near.destroy();
  far.destroy();
});
