import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ExecClient, startProcess } from '../../src/client/index.js';
import { openEnvironment } from '../../src/index.js';
import { ExecServer, type ServerEvent } from '../../src/server/index.js';
import { createMemoryChannels, WebSocketListener } from '../../src/transport/index.js';
import { DurableServer } from '../harness/durable-server.js';
import { printed } from '../harness/events.js';
import { TestFolder } from '../harness/processes.js';
import { NO_ANSWER, ScriptedServer } from '../harness/scripted-server.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';

const HOUR_MS = 3_600_000;
const preload = fileURLToPath(new URL('preload/moving-clock.mjs', import.meta.url));

/** Moves the wall clock of this process. */
function moveClock(ms: number): void {
  const real = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => real() + ms);
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Resolves once a client has tried to connect this often. */
async function triedAgain(server: ScriptedServer, dials: number): Promise<void> {
  await expect.poll(() => server.dials, { interval: 1 }).toBeGreaterThanOrEqual(dials);
}

/** A server in this process that asks often, and loses patience after a while. */
async function impatientServer(silenceLimitMs: number): Promise<{ url: string } & AsyncDisposable> {
  const server = new ExecServer();
  const listener = await WebSocketListener.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    liveness: { pingIntervalMs: 50, silenceLimitMs },
    onConnection: (channel) => void server.accept(channel),
  });
  return {
    url: listener.url,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.close(), listener.close()]);
    },
  };
}

describe('a wall clock that jumps', () => {
  test('an hour ahead costs no client its connection and no program its life', async () => {
    await using server = await ServerProcess.start({
      env: { NODE_OPTIONS: `--import=${preload}`, MOVE_CLOCK_MS: String(HOUR_MS) },
    });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    await client.call('process/start', startParams('p', ['sleep', '1000']));
    const closed = client.untilClosed().then((why) => Promise.reject(new Error(why.reason)));
    closed.catch(() => undefined);
    signalOne(server.pid, 'SIGUSR2');
    await expect.poll(() => server.stderr).toContain('the clock says');
    // The server judges its clients each time it is about to ping them. The first ping may be older than its new time.
    for (let pings = 0; pings < 2; pings += 1) await Promise.race([once(socket, 'ping'), closed]);
    expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: true });
    socket.terminate();
  });

  test('ahead does not cut a peer that answers', async () => {
    // Far less than the jump, and more than a busy machine keeps anybody waiting.
    await using server = await impatientServer(20_000);
    const socket = new WebSocket(server.url);
    await once(socket, 'open');
    moveClock(HOUR_MS);
    const cut = once(socket, 'close').then(([code]) => Promise.reject(new Error(`cut: ${code}`)));
    cut.catch(() => undefined);
    for (let pings = 0; pings < 8; pings += 1) await Promise.race([once(socket, 'ping'), cut]);
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });

  test('back does not keep a peer that is gone', async () => {
    await using server = await impatientServer(200);
    const socket = new WebSocket(server.url, { autoPong: false });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    moveClock(-HOUR_MS);
    const [code] = (await once(socket, 'close', { signal: AbortSignal.timeout(10_000) })) as [number];
    expect(code).toBe(1006);
  });

  test('ahead does not make a client give up on a server that is back in time', async () => {
    const server = new ScriptedServer();
    await using client = await ExecClient.connect({ dial: server.dial, resume: true, giveUpAfterMs: 20_000 });
    const process = await startProcess(client, { argv: ['x'], processId: 'p' });
    server.reachable = false;
    server.cut();
    await triedAgain(server, 2);
    moveClock(HOUR_MS);
    await triedAgain(server, 4);
    server.on('process/read', () => ({
      chunks: [],
      nextSeq: 3,
      exited: true,
      exitCode: 0,
      closed: true,
      failure: null,
      sandboxDenied: false,
    }));
    server.reachable = true;
    expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  test('back does not make a client wait for one that stays away', async () => {
    const server = new ScriptedServer();
    await using client = await ExecClient.connect({ dial: server.dial, resume: true, giveUpAfterMs: 300 });
    const process = await startProcess(client, { argv: ['x'], processId: 'p' });
    server.reachable = false;
    server.cut();
    await triedAgain(server, 2);
    moveClock(-HOUR_MS);
    expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
  });

  test('back does not make a call wait for longer than it was told to', async () => {
    const server = new ScriptedServer({ 'environment/status': () => NO_ANSWER });
    await using client = await ExecClient.connect({ dial: server.dial, resume: true });
    server.reachable = false;
    server.cut();
    // The first attempt waits for a connection, the rest of the time is for the answer.
    const call = client.call('environment/status', null, { timeoutMs: 300 });
    moveClock(-HOUR_MS);
    server.reachable = true;
    await expect(call).rejects.toMatchObject({ code: 'requestTimeout' });
  });
});

test.each([HOUR_MS, -HOUR_MS])(
  'what is reported took as long as it took when the clock jumps %d ms',
  async (jumpMs) => {
    const events: ServerEvent[] = [];
    await using server = new ExecServer({ observe: (event) => void events.push(event) });
    const [ours, theirs] = createMemoryChannels();
    void server.accept(theirs);
    await using client = await ExecClient.connect({ dial: () => Promise.resolve(ours), resume: false });
    const program = await startProcess(client, { argv: ['sleep', '1000'] });
    moveClock(jumpMs);
    await program.terminate();
    await program.wait();
    await client.close();
    const took = () => events.flatMap((event) => ('durationMs' in event ? [event.durationMs] : []));
    await expect.poll(() => took().length).toBe(2);
    for (const durationMs of took()) {
      expect(durationMs).toBeGreaterThanOrEqual(0);
      expect(durationMs).toBeLessThan(HOUR_MS / 2);
    }
  },
);

const sh = (script: string): { argv: string[]; cwd: string } => ({
  argv: ['/bin/sh', '-c', script],
  cwd: '/',
});

describe('a wall clock that jumps between two servers of a keeper', () => {
  /** A server whose successor begins with another time of day. */
  async function jumpingServer(jumpMs: number): Promise<DurableServer & { jump: () => void }> {
    const folder = new TestFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    const file = folder.file('moved');
    const env = { NODE_OPTIONS: `--import=${preload}`, MOVED_CLOCK_FILE: file };
    const server = await DurableServer.start({ env });
    return Object.assign(server, {
      jump: () => {
        writeFileSync(file, String(jumpMs));
        server.kill();
      },
    });
  }

  test('an hour ahead ends no program before its time', { timeout: 30_000 }, async () => {
    await using server = await jumpingServer(HOUR_MS);
    await using environment = await openEnvironment(server.url);
    const script = 'read -r line; exit 5';
    const limited = await environment.start({ ...sh(script), pipeStdin: true, timeoutMs: HOUR_MS / 2 });
    const kept = await environment.start({ ...sh(script), pipeStdin: true, lease: HOUR_MS / 2 });
    await kept.detach();
    server.jump();
    await limited.write('\n');
    expect(await limited.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
    const again = await environment.attach(kept.processId);
    await again.write('\n');
    expect(await again.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
  });

  test('an hour back lets no program have more time', { timeout: 30_000 }, async () => {
    await using server = await jumpingServer(-HOUR_MS);
    await using environment = await openEnvironment(server.url);
    const program = await environment.start({ ...sh('echo begun; sleep 1000'), timeoutMs: 4_000 });
    await printed(program, 'begun');
    server.jump();
    expect(await program.wait()).toMatchObject({ kind: 'timedOut' });
  });
});
