import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { socketWire, startParams, WireClient } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';

const MIB = 1024 * 1024;
/** What a connection holds beyond what each process may always have: 1 MiB of output, 2 MiB of input. */
const BOUND_BYTES = 32 * MIB;
const OUTPUT_SHARE_BYTES = MIB;
const INPUT_SHARE_BYTES = 2 * MIB;
/** Each process may have one chunk more than its window. */
const CHUNK_BYTES = 64 * 1024;
/** As much as one process may have in line. */
const INPUT_BYTES = 15 * MIB;
const FLOODS = 6;

/** A client that counts output instead of keeping it. */
async function dialCounting(url: string) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const output = new Map<string, { seq: number; bytes: number; acknowledged: number }>();
  const wire = socketWire(socket);
  const onText = (listener: (text: string) => void): void =>
    wire.onText((text) => {
      const [, id = '', seq] =
        /^{"method":"process\/output","params":{"processId":"([^"]+)","seq":(\d+)/.exec(text) ?? [];
      if (seq === undefined) listener(text);
      else {
        const known = output.get(id) ?? { bytes: 0, acknowledged: 0 };
        // The text around the base64 is short; a chunk is not.
        output.set(id, { ...known, seq: Number(seq), bytes: known.bytes + Math.floor(text.length * 0.75) });
      }
    });
  const client = new WireClient({ ...wire, onText });
  await once(socket, 'open');
  return { client, output };
}

type Dialled = Awaited<ReturnType<typeof dialCounting>>;

/** How much input of programs that do not read was taken, beyond their shares. */
async function queueInput({ client }: Dialled): Promise<number> {
  const chunk = Buffer.alloc(INPUT_BYTES).toString('base64');
  for (let taken = 0; ; taken += INPUT_BYTES - INPUT_SHARE_BYTES) {
    const processId = `deaf-${taken}`;
    await client.call('process/start', startParams(processId, ['sleep', '600'], { pipeStdin: true }));
    const write = { processId, writeId: 'only', chunk };
    client.send(JSON.stringify({ id: processId, method: 'process/write', params: write }));
    // A write that was taken is not answered before it is read; one that was refused is answered by now.
    await client.call('process/list');
    if (client.arrivals.some((each) => 'id' in each && each.id === processId)) return taken;
  }
}

/**
 * How much unread output of programs that flood was taken, beyond their shares. The reader is distant at first, so that
 * windows grow, and then stops.
 */
async function leaveOutputUnread({ client, output }: Dialled): Promise<number> {
  for (let index = 0; index < FLOODS; index += 1)
    await client.call('process/start', startParams(`flood-${index}`, ['cat', '/dev/zero']));
  for (let round = 0; round < 12; round += 1) {
    // The distance, which is what windows are measured by.
    await pause(100);
    for (const [processId, each] of output) {
      each.acknowledged = each.bytes;
      client.send(JSON.stringify({ method: 'process/ack', params: { processId, seq: each.seq } }));
    }
  }
  const received = (): number => [...output.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  for (let before = -1; before < received(); await pause(100)) before = received();
  const shares = OUTPUT_SHARE_BYTES + 2 * CHUNK_BYTES;
  return [...output.values()].reduce(
    (sum, { bytes, acknowledged }) => sum + Math.max(0, bytes - acknowledged - shares),
    0,
  );
}

test.each([
  ['input first', [queueInput, leaveOutputUnread]],
  ['output first', [leaveOutputUnread, queueInput]],
] as const)(
  'input and output that nobody reads are bounded together: %s',
  { timeout: 60_000 },
  async (_, kinds) => {
    await using server = await serve();
    const dialled = await dialCounting(server.url);
    const { client, output } = dialled;
    await client.handshake({ capabilities: { flowControl: true } });
    const held: number[] = [];
    for (const kind of kinds) held.push(await kind(dialled));
    const sum = held.reduce((one, other) => one + other);
    expect(sum).toBeLessThanOrEqual(BOUND_BYTES);
    // Most of it can be used.
    expect(sum).toBeGreaterThan(BOUND_BYTES / 2);
    // Whatever the others hold, a process that is read gets through.
    await client.call('process/start', startParams('read', ['head', '-c', '500000', '/dev/zero']));
    await client.closedEvents('read');
    expect(output.get('read')?.bytes).toBeGreaterThanOrEqual(500_000);
    client.close();
  },
);
