import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';

const MEBIBYTE = 1024 * 1024;

function outputIn(text: string): { seq: number; chunk: string } {
  const { params } = JSON.parse(text) as { params?: { seq?: number; chunk?: string } };
  return { seq: params?.seq ?? 0, chunk: params?.chunk ?? '' };
}

test('a client whose acknowledgements take long has more than one window on its way; a stalled one a bounded amount', async () => {
  await using server = await ServerProcess.start();
  const { client, socket } = await dialWire(server.url);
  await client.handshake({ capabilities: { flowControl: true } });
  let arrived = 0;
  let acknowledged = 0;
  let stalled = false;
  let largest = 0;
  const acknowledge = async (seq: number, total: number): Promise<void> => {
    await delay(250);
    if (stalled) return;
    client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
    acknowledged = total;
  };
  socket.on('message', (data: Buffer) => {
    const { seq, chunk } = outputIn(data.toString());
    arrived += Buffer.byteLength(chunk, 'base64');
    largest = Math.max(largest, arrived - acknowledged);
    void acknowledge(seq, arrived);
    // Kept, the flood would be the test's own.
    client.arrivals.length = 0;
  });
  await client.call('process/start', startParams('p', ['cat', '/dev/zero']));
  await expect.poll(() => largest).toBeGreaterThan(4 * MEBIBYTE);
  stalled = true;
  const before = arrived;
  // Nothing more comes once the window is full, so two looks see the same.
  await expect
    .poll(async () => {
      const seen = arrived;
      await delay(200);
      return arrived === seen;
    })
    .toBe(true);
  expect(arrived - before).toBeLessThan(33 * MEBIBYTE);
  client.close();
});

test('a client cut off behind the end of a program still finds all it had not acknowledged', async () => {
  await using server = await ServerProcess.start();
  const { client, socket } = await dialWire(server.url);
  const sessionId = await client.handshake({ capabilities: { flowControl: true } });
  const bytes = 48 * MEBIBYTE;
  // Acknowledged late, as from far away, so that the window grows; at last not any more.
  let arrived = 0;
  let closed = false;
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    const { seq, chunk } = outputIn(text);
    arrived += Buffer.byteLength(chunk, 'base64');
    closed ||= text.includes('"process/closed"');
    client.arrivals.length = 0;
    if (arrived > bytes - 3 * MEBIBYTE) return;
    setTimeout(() => {
      client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
    }, 40);
  });
  await client.call('process/start', startParams('p', ['head', '-c', String(bytes), '/dev/zero']));
  await expect.poll(() => closed).toBe(true);
  expect(arrived).toBe(bytes);
  socket.terminate();
  const { client: again } = await dialWire(server.url);
  await again.handshake({ resumeSessionId: sessionId, capabilities: { flowControl: true } });
  const result = await again.call('process/read', { processId: 'p', afterSeq: 0, maxBytes: null });
  const kept = (result['chunks'] as { chunk: string }[]).reduce(
    (sum, { chunk }) => sum + Buffer.byteLength(chunk, 'base64'),
    0,
  );
  expect(kept).toBeGreaterThan(2.9 * MEBIBYTE);
  again.close();
});
