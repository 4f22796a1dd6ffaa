import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

async function connect(
  url: string | undefined,
  capabilities: unknown = { flowControl: true },
): Promise<{ client: WireClient; socket: { pause(): void; resume(): void } }> {
  const { client, socket } = await dialWire(String(url));
  await client.handshake({ capabilities });
  return { client, socket };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Everything that arrived, with all bytes decoded. */
function decoded(arrivals: readonly unknown[]): string {
  const text = JSON.stringify(arrivals);
  const chunks = [...text.matchAll(/"chunk":"([^"]*)"/g)].map(([, chunk = '']) =>
    Buffer.from(chunk, 'base64').toString(),
  );
  return text + chunks.join('');
}

/** For all of them together on a busy machine. */
const HUNDRED = { timeout: 120_000 };

test('a hundred viewers, ten of which stall: nobody else waits, and nothing piles up', HUNDRED, async () => {
  await using server = await serve();
  const [url] = server.urls;
  const { client: writer } = await connect(url);
  const script =
    'read go; i=0; while [ $i -lt 150 ]; do head -c 20000 /dev/zero | tr "\\0" x; echo; i=$((i+1)); done; echo done';
  await writer.call('process/start', startParams('p', sh(script), { tty: true, lease: 'kept' }));
  const viewers = [];
  for (let count = 0; count < 100; count += 1) {
    const viewer = await connect(url);
    const attach = { processId: 'p', keyboard: 'view', screen: true };
    expect(await viewer.client.call('process/attach', attach)).toMatchObject({ holds: false });
    viewers.push(viewer);
  }
  const stalled = viewers.splice(0, 10);
  for (const { socket } of stalled) socket.pause();
  const before = process.memoryUsage();
  await writer.call('process/write', { processId: 'p', writeId: 'w', chunk: base64('go\r') });
  // Everyone who reads gets to the end, although nobody acknowledges a thing: a window of output, then the newest.
  await Promise.all(
    [writer, ...viewers.map(({ client }) => client)].map((client) => {
      let acknowledged = 0;
      return client.until(() => {
        const seq = Math.max(
          0,
          ...client.arrivals.slice(-1).map((each) => ('params' in each ? (each.params.seq ?? 0) : 0)),
        );
        if (seq > acknowledged + 5) {
          acknowledged = seq;
          client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
        }
        return (
          client.arrivals.some((each) => 'method' in each && each.method === 'process/closed') || undefined
        );
      });
    }),
  );
  const after = process.memoryUsage();
  // 3 MB were printed. The stalled ones hold at most a few MiB in the kernel and in our outbox.
  expect(after.external + after.arrayBuffers - before.external - before.arrayBuffers).toBeLessThan(200e6);
  for (const { socket, client } of stalled) {
    socket.resume();
    const screen = await client.call('process/attach', { processId: 'p', keyboard: 'view', screen: true });
    expect(Buffer.from((screen.screen as { chunk: string }).chunk, 'base64').toString()).toContain('done');
  }
});

test('a password typed at a prompt without echo is nowhere afterwards', async () => {
  using folder = new TestFolder();
  await using server = await serve({ spool: { directory: folder.file('spool') } });
  const [url] = server.urls;
  const { client: writer } = await connect(url);
  const { client: viewer } = await connect(url);
  const script =
    'stty -echo; printf "Password: "; read secret; stty echo; echo; echo "length ${#secret}"; read end';
  const start = startParams('p', sh(script), { tty: true, lease: 'kept', retain: 'disk' });
  await writer.call('process/start', start);
  await viewer.call('process/attach', { processId: 'p', keyboard: 'view', screen: true });
  const shows = (client: WireClient, text: string): Promise<true> =>
    client.until(() => client.output('p').includes(text) || undefined);
  // The viewer may have come late enough to find it on the screen it was given.
  await shows(writer, 'Password: ');
  const secret = 'korrekt-horse-battery';
  await writer.call('process/write', { processId: 'p', writeId: '1', chunk: base64(`${secret}\r`) });
  await shows(viewer, `length ${secret.length}`);
  const late = await connect(url);
  const joined = await late.client.call('process/attach', { processId: 'p', keyboard: 'view', screen: true });
  expect(Buffer.from((joined.screen as { chunk: string }).chunk, 'base64').toString()).toContain('length');
  await writer.call('process/write', { processId: 'p', writeId: '2', chunk: base64('\r') });
  await viewer.closedEvents('p');
  await server.close();
  const heard = [viewer, late.client].map(({ arrivals }) => decoded(arrivals));
  const stored = readdirSync(folder.path, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
  expect(stored.some((text) => text.includes(`length ${secret.length}`))).toBe(true);
  expect([...heard, ...stored].filter((text) => text.includes(secret))).toEqual([]);
});
