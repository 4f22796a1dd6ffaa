import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { HistoryEntry } from '../../src/contract/index.js';
import { serve } from '../../src/server/index.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const SECRET = 'a shared secret of more than 32 bytes';
const AUTH = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;

async function dial(url: string | undefined, sub: string): Promise<WireClient> {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, sub })}`;
  const token = `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
  const { client } = await dialWire(String(url), { headers: { authorization: `Bearer ${token}` } });
  await client.handshake();
  return client;
}

async function codeOf(client: WireClient, params: object): Promise<unknown> {
  return (await client.ask('process/history', params)).error?.data?.code;
}

describe('process/history', () => {
  test('is for whoever may read the process, also on the next server', async () => {
    using folder = new TestFolder();
    const spool = { directory: folder.file('spool') };
    {
      await using server = await serve({ auth: AUTH, spool });
      const anna = await dial(server.urls[0], 'anna');
      const more = { lease: 'kept', retain: 'disk' };
      await anna.call('process/start', startParams('kept', sh('echo one; exit 5'), more));
      await anna.call('process/wait', { processId: 'kept' });
      expect(await anna.call('process/history', { processId: 'kept' })).toMatchObject({ complete: true });
      const ben = await dial(server.urls[0], 'ben');
      expect(await codeOf(ben, { processId: 'kept' })).toBe('processNotFound');
      // As with `process/read`, a kept process has to be attached to.
      const again = await dial(server.urls[0], 'anna');
      expect(await codeOf(again, { processId: 'kept' })).toBe('processNotFound');
      await again.call('process/attach', { processId: 'kept' });
      expect(await again.call('process/history', { processId: 'kept' })).toMatchObject({ complete: true });
    }
    await using next = await serve({ auth: AUTH, spool });
    const ben = await dial(next.urls[0], 'ben');
    expect(await codeOf(ben, { processId: 'kept' })).toBe('processNotFound');
    const anna = await dial(next.urls[0], 'anna');
    expect(await anna.call('process/history', { processId: 'kept' })).toMatchObject({
      tty: false,
      size: null,
      events: [{ type: 'output', stream: 'stdout', chunk: Buffer.from('one\n').toString('base64') }],
      end: { exitCode: 5, signal: null, timedOut: false },
      complete: true,
    });
  });

  test('a position that is none is refused', async () => {
    using folder = new TestFolder();
    await using server = await serve({ auth: AUTH, spool: { directory: folder.file('spool') } });
    const anna = await dial(server.urls[0], 'anna');
    await anna.call('process/start', startParams('a', sh('echo one'), { retain: 'disk' }));
    for (const position of ['', '1', '1.2', '-1.0.0', '1.0.x', '1'.repeat(99), '1.0.0.0', 'NaN.0.0'])
      expect(await codeOf(anna, { processId: 'a', position })).toBe('invalidParams');
    // Also if it was to wait.
    expect(await codeOf(anna, { processId: 'a', position: 'x', waitMs: 10_000 })).toBe('invalidParams');
    await anna.call('process/start', startParams('memory', sh('echo one')));
    expect(await codeOf(anna, { processId: 'memory', waitMs: 10_000 })).toBe('notRecorded');
    const far = { processId: 'a', position: '999999999999999.0.999999999999999' };
    expect(await anna.call('process/history', far)).toMatchObject({ events: [] });
  });

  test('answers are bounded, and what was deleted between two of them is a gap', async () => {
    using folder = new TestFolder();
    const spool = { directory: folder.file('spool'), processBytes: 1_000_000 };
    await using server = await serve({ spool });
    const dialServer = (): ReturnType<typeof dialWebSocket> => dialWebSocket(String(server.urls[0]));
    await using env = await RemoteEnvironment.connect({ id: 'x', dial: dialServer, resume: false });
    const processId = 'a';
    const script = 'head -c 100000 /dev/zero; read x; head -c 9000000 /dev/zero; echo end';
    const process = await env.start({
      argv: sh(script),
      processId,
      pipeStdin: true,
      retain: 'disk',
      onSlowReader: 'spool',
    });
    const { client } = env;
    let seen = 0;
    let position: string | undefined;
    while (seen < 100_000) {
      const page = await client.call('process/history', {
        processId,
        maxBytes: 1,
        waitMs: 60_000,
        ...(position === undefined ? {} : { position }),
      });
      expect(page.events.length).toBeLessThanOrEqual(1);
      for (const event of page.events)
        if (event.type === 'output') seen += Buffer.from(event.chunk, 'base64').length;
      ({ position } = page);
    }
    await process.write('\n');
    await process.wait();
    const rest = await client.call('process/history', { processId, position: String(position) });
    const [gap, ...output] = rest.events;
    expect(gap?.type).toBe('gap');
    const bytes = output.reduce(
      (sum, event) => sum + (event.type === 'output' ? Buffer.from(event.chunk, 'base64').length : 0),
      0,
    );
    expect(bytes + (gap?.type === 'gap' ? gap.lostBytes : 0)).toBe(9_000_004);
    expect(rest.complete).toBe(true);

    const entries: HistoryEntry[] = [];
    for await (const entry of process.history()) entries.push(entry);
    expect(entries.map(({ type }) => type).filter((type) => type !== 'output')).toEqual([
      'start',
      'gap',
      'end',
    ]);
  });
});
