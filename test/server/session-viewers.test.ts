import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { serve as serveWith } from '../../src/server/index.js';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';
import { untilPrinted } from '../harness/events.js';

const SECRET = 'a shared secret of more than 32 bytes';
const AUTH = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;

function tokenOf(sub: string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, sub })}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

async function open(url: string, clientName = 'viewers'): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({
    id: 'v',
    dial: () => dialWebSocket(url),
    resume: true,
    clientName,
  });
}

describe('the processes of all sessions', () => {
  test('are listed with what is known about them', async () => {
    await using server = await serve();
    await using agent = await open(server.url, 'an agent');
    await using person = await open(server.url);
    const child = await agent.start({ argv: ['cat'], tty: true, cwd: '/tmp', processId: 'a' });
    const ended = await agent.start({ argv: ['sh', '-c', 'kill -9 $$'], processId: 'b', lease: 'kept' });
    await ended.wait();
    await expect
      .poll(async () => (await person.listServer())[0]?.details)
      .toEqual({
        cwd: 'file:///tmp',
        clientName: 'an agent',
        sandboxType: 'none',
        recorded: false,
        endedAtMs: null,
        signal: null,
        timedOut: false,
        outputBytes: 0,
        waitsForInput: true,
      });
    const rows = await person.listServer();
    expect(rows).toMatchObject([
      { processId: 'a', sessionId: agent.client.sessionId, argv: ['cat'] },
      { processId: 'b', sessionId: 'kept', argv: ['sh', '-c', 'kill -9 $$'], exited: true },
    ]);
    const [, killed] = rows;
    expect(killed?.details).toMatchObject({ signal: 'SIGKILL', clientName: 'an agent', waitsForInput: null });
    expect(killed?.details?.endedAtMs).toBeGreaterThanOrEqual(killed?.startedAtMs ?? Infinity);
    await child.terminate();
  });

  test('show arguments and details to the same client only, and only if it asks', async () => {
    await using server = await serveWith({ auth: AUTH });
    const [url = ''] = server.urls;
    const dial = async (sub: string) => {
      const { client } = await dialWire(url, { headers: { authorization: `Bearer ${tokenOf(sub)}` } });
      return { client, sessionId: await client.handshake() };
    };
    const [anna, again, ben] = [await dial('anna'), await dial('anna'), await dial('ben')];
    await anna.client.call('process/start', startParams('p', ['sleep', '1000'], { tty: true }));
    const list = async (who: typeof ben, details: boolean) =>
      (await who.client.call('process/list', { scope: 'server', details })).processes;
    expect(await list(again, true)).toMatchObject([{ argv: ['sleep', '1000'], details: { signal: null } }]);
    for (const rows of [await list(ben, true), await list(ben, false), await list(again, false)]) {
      expect(rows).toMatchObject([{ processId: 'p', sessionId: anna.sessionId, argv: ['sleep'] }]);
      expect(JSON.stringify(rows)).not.toContain('details');
    }
    const attach = async (who: typeof ben) =>
      (await who.client.ask('process/attach', { processId: 'p', sessionId: anna.sessionId })).error?.data
        ?.code;
    expect(await attach(ben)).toBe('processNotFound');
    expect(await attach(anna)).toBe('processNotFound');
    expect(await attach(again)).toBeUndefined();
    const nowhere = { processId: 'p', sessionId: 'no such session' };
    expect((await again.client.ask('process/attach', nowhere)).error?.data?.code).toBe('processNotFound');
  });
});

describe('a process of another session', () => {
  test('is joined late by its screen, typed to, resized for, and left alone', async () => {
    await using server = await serve();
    await using agent = await open(server.url);
    const child = await agent.start({ argv: ['sh'], tty: true, processId: 'p' });
    await child.write('stty -echo; PS1=; echo be""gun\n');
    await untilPrinted(child, 'begun');
    await child.resize({ rows: 30, cols: 90 });
    {
      await using person = await open(server.url);
      const { sessionId } = agent.client;
      const view = await person.attach('p', { sessionId, screen: true, keyboard: 'none' });
      expect(Buffer.from(view.screen?.bytes ?? []).toString()).toContain('begun');
      expect(view.screen?.size).toEqual({ rows: 30, cols: 90 });
      const resized = new Promise((resolve) => view.watchSize?.(resolve));
      await child.resize({ rows: 31, cols: 91 });
      expect(await resized).toEqual({ rows: 31, cols: 91 });
      await view.keyboard?.take();
      await view.write('echo from the""viewer\n');
      await untilPrinted(child, 'from theviewer');
      await child.write('echo from the""owner\n');
      await untilPrinted(view, 'from theowner');
      await view.detach();
    }
    await child.write('echo still""here; exit 4\n');
    await untilPrinted(child, 'stillhere');
    expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 4 });
  });

  test('is viewed without changing it, and ends with its session', async () => {
    await using server = await serve();
    const agent = await open(server.url);
    await agent.start({ argv: ['sleep', '1000'], tty: true, processId: 'p' });
    await using person = await open(server.url);
    const view = await person.attach('p', { sessionId: agent.client.sessionId, keyboard: 'view' });
    await expect(view.write('x')).rejects.toMatchObject({ code: 'viewOnly' });
    await expect(view.signal('SIGINT')).rejects.toMatchObject({ code: 'viewOnly' });
    await expect(view.terminate()).rejects.toMatchObject({ code: 'viewOnly' });
    const end = view.wait();
    await agent.close();
    expect((await end).kind).not.toBe('exited');
  });

  test('does not wait for a viewer that reads nothing', async () => {
    await using server = await serve();
    await using agent = await open(server.url);
    await using person = await open(server.url);
    const argv = ['sh', '-c', 'read go; head -c 6000000 /dev/zero; echo; echo done'];
    const child = await agent.start({ argv, pipeStdin: true, processId: 'p' });
    await person.attach('p', { sessionId: agent.client.sessionId, mayPause: true, keyboard: 'none' });
    await child.write('\n');
    await untilPrinted(child, 'done');
    expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  test('shows the end of its screen after more output than is retained', async () => {
    await using server = await serve();
    await using agent = await open(server.url);
    await using person = await open(server.url);
    const script = 'seq 1 400000; echo the end; read stay';
    const child = await agent.start({ argv: ['sh', '-c', script], tty: true, processId: 'p' });
    await untilPrinted(child, 'the end');
    const view = await person.attach('p', { sessionId: agent.client.sessionId, screen: true });
    expect(Buffer.from(view.screen?.bytes ?? []).toString()).toContain('the end');
  });
});
