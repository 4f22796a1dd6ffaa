import { createHmac } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const SECRET = 'a shared secret of more than 32 bytes';
const AUTH = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;

async function dial(url: string | undefined, sub: string): ReturnType<typeof dialWire> {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, sub })}`;
  const token = `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
  return await dialWire(String(url), { headers: { authorization: `Bearer ${token}` } });
}

/** Lines as text, with their numbers. */
function shown(lines: readonly { line: number; chunk: string }[]): string[] {
  return lines.map(({ line, chunk }) => `${line}:${Buffer.from(chunk, 'base64').toString()}`);
}

interface Page {
  readonly matches: readonly { line: number; chunk: string }[];
  readonly lines: readonly { line: number; chunk: string }[];
  readonly gaps: readonly { lostBytes: number }[];
  readonly cursor: string;
  readonly atEnd: boolean;
  readonly totalLines: number;
  readonly failure: string | null;
}

async function ask(client: WireClient, method: string, params: Record<string, unknown>): Promise<Page> {
  return (await client.call(method, params)) as unknown as Page;
}

/** Asks for all pages of a search. */
async function search(
  client: WireClient,
  params: Record<string, unknown>,
): Promise<{ lines: string[]; lost: number }> {
  const lines: string[] = [];
  let lost = 0;
  for (let cursor: string | null = null; ; ) {
    const page = await ask(client, 'process/search', { ...params, cursor });
    lines.push(...shown(page.matches));
    for (const { lostBytes } of page.gaps) lost += lostBytes;
    cursor = page.cursor;
    if (page.atEnd) return { lines, lost };
  }
}

describe('whose output it is', () => {
  test('others cannot search it, kept, running or stored', async () => {
    using folder = new TestFolder();
    await using server = await serve({ auth: AUTH, spool: { directory: folder.file('spool') } });
    const [url] = server.urls;
    const { client: anna } = await dial(url, 'anna');
    await anna.handshake();
    const kept = startParams('kept', sh('echo secret; exec cat'), {
      lease: 'kept',
      pipeStdin: true,
      retain: 'disk',
    });
    await anna.call('process/start', kept);
    await anna.call('process/start', startParams('own', sh('echo secret'), { retain: 'disk' }));
    await anna.call('process/search', { processId: 'kept', pattern: 'secret', waitMs: 60_000 });
    const { client: ben } = await dial(url, 'ben');
    await ben.handshake();
    for (const processId of ['kept', 'own', 'none'])
      for (const [method, params] of [
        ['process/search', { processId, pattern: 's' }],
        ['process/lines', { processId }],
      ] as const) {
        const { error } = await ben.ask(method, params);
        expect(error?.data).toMatchObject({ code: 'processNotFound' });
        expect(error?.message).toBe('unknown process id');
      }
  });

  test('their owner finds kept ones without attaching to them', async () => {
    using folder = new TestFolder();
    await using server = await serve({ auth: AUTH, spool: { directory: folder.file('spool') } });
    const { client: first } = await dial(server.urls[0], 'anna');
    await first.handshake();
    const kept = startParams('kept', sh('seq 1 100; exec cat'), {
      lease: 'kept',
      pipeStdin: true,
      retain: 'disk',
    });
    await first.call('process/start', kept);
    const { client: second } = await dial(server.urls[0], 'anna');
    await second.handshake();
    await second.call('process/search', { processId: 'kept', pattern: '100', waitMs: 60_000 });
    expect((await search(second, { processId: 'kept', pattern: '^.7$', regex: true })).lines).toHaveLength(9);
    const { processes } = await second.call('process/list', { scope: 'server' });
    expect(processes).toMatchObject([{ attached: 1 }]);
    expect(second.output('kept')).toHaveLength(0);
  });
});

test('output left by a server that was killed is searched by the next one', { timeout: 60_000 }, async () => {
  using folder = new TestFolder();
  const args = ['--spool', folder.file('spool')];
  await using first = await ServerProcess.start({ args });
  const { client, socket } = await dialWire(first.url);
  await client.handshake();
  const script = `awk 'BEGIN { for (i = 1; ; i++) printf "%011d\\n", i }'`;
  const more = { lease: 'kept', retain: 'disk', onSlowReader: 'spool' };
  await client.call('process/start', startParams('flood', sh(script), more));
  await client.until(() => client.output('flood').length > 3_000_000 || undefined);
  await first.stop('SIGKILL');
  socket.terminate();
  await using second = await ServerProcess.start({ args });
  const { client: again } = await dialWire(second.url);
  await again.handshake();
  const page = await ask(again, 'process/lines', { processId: 'flood', from: 1000, to: 1002 });
  expect(shown(page.lines)).toEqual([1000, 1001, 1002].map((n) => `${n}:${String(n).padStart(11, '0')}`));
  expect(page.failure).toMatch(/The server ended before the process did/);
  expect(page.totalLines).toBeGreaterThan(1000);
  const { lines, lost } = await search(again, { processId: 'flood', pattern: '77777$', regex: true });
  expect(lost).toBe(0);
  expect(lines.slice(0, 2)).toEqual(['77777:00000077777', '177777:00000177777']);
});

/** How long half of the answers of a process that echoes take at most, in milliseconds. */
async function echoMedian(client: WireClient, isDone: (count: number) => boolean): Promise<number> {
  const processId = `echo-${Math.random()}`;
  await client.call('process/start', startParams(processId, ['cat'], { pipeStdin: true }));
  const took: number[] = [];
  for (let count = 0; !isDone(count); count += 1) {
    const started = performance.now();
    const before = client.output(processId).length;
    const chunk = Buffer.from('x\n').toString('base64');
    await client.call('process/write', { processId, writeId: String(count), chunk });
    await client.until(() => client.output(processId).length > before || undefined);
    took.push(performance.now() - started);
  }
  return took.sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? Number.POSITIVE_INFINITY;
}

test('a log of 200 MB is searched while others work', { timeout: 240_000 }, async () => {
  using folder = new TestFolder();
  await using server = await ServerProcess.start({ args: ['--spool', folder.file('spool')] });
  const { client } = await dialWire(server.url);
  await client.handshake();
  const line = `${'a'.repeat(60)} request %d took 17 ms`;
  const count = 2_300_000;
  const script = `awk 'BEGIN { for (i = 1; i <= ${count}; i++) printf "${line}\\n", i }'; printf end`;
  const more = { lease: 'kept', retain: 'disk', onSlowReader: 'spool' };
  await client.call('process/start', startParams('big', sh(script), more));
  await client.call('process/detach', { processId: 'big' });
  await client.call('process/wait', { processId: 'big' });
  const { client: other } = await dialWire(server.url);
  await other.handshake();
  for (const [pattern, regex, expected] of [
    ['request 2222222 ', false, 1],
    ['(a|aa)+ request [0-9]*99999 took', true, 23],
    ['a.*a.*a.*a.*b', true, 0],
  ] as const) {
    const { client: fresh } = await dialWire(server.url);
    await fresh.handshake();
    const idle = await echoMedian(fresh, (count) => count === 50);
    const state = { done: false };
    const searching = search(other, { processId: 'big', pattern, regex }).finally(() => {
      state.done = true;
    });
    const busy = await echoMedian(fresh, () => state.done);
    const { lines, lost } = await searching;
    expect([lines.length, lost]).toEqual([expected, 0]);
    // Tests may leave the server little of the machine: then everything takes longer.
    expect(busy).toBeLessThan(50 + 10 * idle);
  }
  const page = await ask(other, 'process/lines', { processId: 'big', from: -1 });
  expect(shown(page.lines)).toEqual([`${count + 1}:end`]);
});

test('on a full disk, what could not be kept is named and lines keep their numbers', {
  timeout: 60_000,
}, async () => {
  using folder = new TestFolder();
  const script = 'mount -t tmpfs -o size=2m none "$1" && shift && exec "$@"';
  const argv = ['--map-root-user', '--mount', 'sh', '-c', script, 'sh', folder.path];
  const served = [process.execPath, 'bin/execwire.js', 'serve', '--listen', 'ws://127.0.0.1:0'];
  const child = spawn('unshare', [...argv, ...served, '--spool', folder.file('spool')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { client } = await dialWire(/ws:\S+/.exec(url)?.[0] ?? '');
    await client.handshake();
    const more = { lease: 'kept', retain: 'disk', onSlowReader: 'spool' };
    await client.call('process/start', startParams('p', sh('seq 1 1500000; echo last'), more));
    await client.call('process/detach', { processId: 'p' });
    await client.call('process/wait', { processId: 'p' });
    const { lines, lost } = await search(client, { processId: 'p', pattern: '^(5|last)$', regex: true });
    expect(lines).toEqual(['5:5', '1500001:last']);
    expect(lost).toBeGreaterThan(5_000_000);
    const page = await ask(client, 'process/lines', { processId: 'p', from: 700_000, to: 700_001 });
    expect(page.lines).toEqual([]);
    expect(page.gaps).toHaveLength(1);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
});

test('a flood of lines is searched where it is: in memory', async () => {
  await using server = await serve({});
  const { client } = await dialWire(String(server.urls[0]));
  await client.handshake();
  const more = { lease: 'kept' };
  await client.call('process/start', startParams('p', sh('seq 1 1000000; echo last'), more));
  await client.call('process/detach', { processId: 'p' });
  await client.call('process/wait', { processId: 'p' });
  const { lines, lost } = await search(client, { processId: 'p', pattern: '99999$', regex: true });
  expect(lines).toHaveLength(2);
  expect(lost).toBeGreaterThan(5_000_000);
});
