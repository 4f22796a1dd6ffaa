import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, sh, startParams } from '../../testkit/wire-client.mjs';

/** For 200 questions, which take a fifth of a second. A server that tries to write all the time takes minutes. */
const QUICK_MS = 10_000;

/** Resident memory of a process in bytes. */
function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

describe('every byte arrives', () => {
  test('500 short commands on terminals, one after the other', async () => {
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    for (let round = 0; round < 500; round += 1) {
      const id = `p${round}`;
      await client.call(
        'process/start',
        startParams(id, sh('head -c 5000 /dev/zero | tr "\\0" x'), { tty: true }),
      );
      expect(outputOf(await client.closedEvents(id)).length).toBe(5000);
      client.arrivals.length = 0;
    }
  }, 60_000);

  test('200 at once, on terminals and pipes', async () => {
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    const ids = Array.from({ length: 200 }, (_, index) => `p${index}`);
    const starts = ids.map((id, index) =>
      client.call(
        'process/start',
        startParams(id, sh('head -c 200000 /dev/zero | tr "\\0" x'), { tty: index % 2 === 0 }),
      ),
    );
    await Promise.all(starts);
    for (const id of ids) expect(outputOf(await client.closedEvents(id)).length).toBe(200_000);
  }, 60_000);

  test('1 GB to a client that stops reading for a while: nothing lost, memory flat, others undisturbed', async () => {
    await using server = await ServerProcess.start();
    const { client, socket } = await dialWire(server.url);
    const { client: other } = await dialWire(server.url);
    await client.handshake();
    await other.handshake();
    const total = 1_000_000_000;
    const before = residentBytes(server.pid);
    await client.call('process/start', startParams('p', ['head', '-c', String(total), '/dev/zero']));
    let received = 0;
    let nextSeq = 1;
    let peak = 0;
    const drain = (): void => {
      for (const { method, params } of client.events('p')) {
        expect(params.seq).toBe(nextSeq);
        nextSeq += 1;
        if (method === 'process/output') received += Buffer.from(String(params.chunk), 'base64').length;
      }
      client.arrivals.length = 0;
    };
    let stalled = false;
    for (let closed = false; !closed; ) {
      await client.until(() => client.arrivals.length > 0);
      closed = client.events('p').some(({ method }) => method === 'process/closed');
      drain();
      peak = Math.max(peak, residentBytes(server.pid));
      if (!stalled && received > 100_000_000) {
        stalled = true;
        socket.pause();
        for (let round = 0; round < 50; round += 1) {
          const id = `o${round}`;
          await other.call('process/start', startParams(id, ['echo', 'hi']));
          await other.closedEvents(id);
        }
        expect(residentBytes(server.pid) - before).toBeLessThan(150_000_000);
        socket.resume();
      }
    }
    expect(stalled).toBe(true);
    expect(received).toBe(total);
    expect(peak - before).toBeLessThan(150_000_000);
  }, 120_000);

  test('a flood from one process does not starve another on the same connection', async () => {
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    await client.call('process/start', startParams('flood', ['cat', '/dev/zero']));
    for (let round = 0; round < 20; round += 1) {
      await client.call('process/start', startParams(`p${round}`, ['echo', 'hi']));
      expect(outputOf(await client.closedEvents(`p${round}`)).toString()).toBe('hi\n');
      client.arrivals.length = 0;
    }
    expect(await client.call('process/terminate', { processId: 'flood' })).toEqual({ running: true });
    await client.until(() => client.events('flood').some(({ method }) => method === 'process/closed'));
  });

  test('a long flood on a terminal arrives byte by byte, and others are heard meanwhile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'execwire-test-'));
    // Without newlines, which a terminal would make two bytes of; a sixth of a second of flood on a good machine.
    const text = Buffer.from(randomBytes(12 * 1024 * 1024).toString('base64'));
    writeFileSync(join(folder, 'text'), text);
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    await client.call('process/start', startParams('flood', ['cat', join(folder, 'text')], { tty: true }));
    for (let round = 0; round < 5; round += 1) {
      await client.call('process/start', startParams(`p${round}`, ['echo', 'hi']));
      expect(outputOf(await client.closedEvents(`p${round}`)).toString()).toBe('hi\n');
    }
    const flood = await client.closedEvents('flood');
    expect(outputOf(flood).equals(text)).toBe(true);
    expect(flood.slice(-2).map(({ method }) => method)).toEqual(['process/exited', 'process/closed']);
    rmSync(folder, { recursive: true });
  }, 60_000);

  test('300 KB for a program that does not read: the server stays quick and the program can be ended', async () => {
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    await client.handshake();
    await client.call(
      'process/start',
      startParams('p', sh('stty raw -echo; echo ready; sleep 1000'), { tty: true }),
    );
    await client.until(() => client.output('p').toString().includes('ready'));
    const chunk = Buffer.alloc(300_000, 'x').toString('base64');
    await client.call('process/write', { processId: 'p', chunk, writeId: '1' });
    const started = performance.now();
    for (let round = 0; round < 200; round += 1) await client.call('environment/status');
    expect(performance.now() - started).toBeLessThan(QUICK_MS);
    expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
    await client.closedEvents('p');
  });
});
