import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const SECRET = 'a shared secret of more than 32 bytes';
const AUTH = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;
const KEPT = { lease: 'kept', pipeStdin: true };

async function dial(url: string | undefined, sub: string): ReturnType<typeof dialWire> {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ exp: Math.floor(Date.now() / 1000) + 600, sub })}`;
  const token = `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
  return await dialWire(String(url), { headers: { authorization: `Bearer ${token}` } });
}

/** A start that does not go on before somebody writes to a fifo: the profile of its shell reads it. */
function slowStart(folder: TestFolder, processId: string): object {
  execFileSync('mkfifo', [folder.file('gate')]);
  writeFileSync(folder.file('.bash_profile'), `echo waits > "$HOME/waits"; read line < "$HOME/gate"\n`);
  const argv = ['/bin/bash', '-lc', 'exec cat'];
  const env = { PATH: '/usr/bin:/bin', HOME: folder.path };
  const shellSnapshot = { scopeId: 'slow', shell: { name: 'bash', path: '/bin/bash' } };
  return startParams(processId, argv, { ...KEPT, env, shellSnapshot });
}

/** Tries until the server has noticed that the old connection is gone. */
async function resume(url: string | undefined, sub: string, resumeSessionId: string): Promise<WireClient> {
  for (;;) {
    const { client } = await dial(url, sub);
    const answer = await client.ask('initialize', { clientName: sub, resumeSessionId });
    if (answer.error?.data?.code === 'sessionBusy') continue;
    client.send('{"method":"initialized","params":{}}');
    return client;
  }
}

test('whoever knows the session of somebody else cannot end what that one keeps', async () => {
  await using server = await serve({ auth: AUTH });
  const { client: anna } = await dial(server.urls[0], 'anna');
  const sessionId = await anna.handshake();
  await anna.call('process/start', startParams('kept', ['cat'], KEPT));
  await anna.call('process/start', startParams('own', ['sleep', '1000']));
  const { client: ben } = await dial(server.urls[0], 'ben');
  await ben.handshake();
  const { processes } = await ben.call('process/list', { scope: 'server' });
  expect(processes).toMatchObject([{ processId: 'own', sessionId }]);
  expect(await ben.call('process/terminate', { processId: 'kept', sessionId })).toEqual({ running: false });
  const { processes: left } = await anna.call('process/list');
  expect(left).toMatchObject([{ processId: 'own' }, { processId: 'kept', exited: false }]);
});

test('whoever knows the session of somebody else does not learn what is being started to be kept', async () => {
  using folder = new TestFolder();
  await using server = await serve({ auth: AUTH });
  const { client: anna } = await dial(server.urls[0], 'anna');
  const sessionId = await anna.handshake();
  const starting = anna.ask('process/start', slowStart(folder, 'kept'));
  await folder.appears('waits');
  const { client: ben } = await dial(server.urls[0], 'ben');
  await ben.handshake();
  // It would wait for the start, and thereby tell that there is one.
  expect(await ben.call('process/terminate', { processId: 'kept', sessionId })).toEqual({ running: false });
  writeFileSync(folder.file('gate'), '\n');
  expect((await starting).result).toBeDefined();
});

test('whoever resumes a session while its client starts something to be kept does not get that', async () => {
  using folder = new TestFolder();
  await using server = await serve({ auth: AUTH });
  const [url] = server.urls;
  const { client: anna, socket } = await dial(url, 'anna');
  const sessionId = await anna.handshake();
  void anna.ask('process/start', slowStart(folder, 'job')).catch(() => undefined);
  await folder.appears('waits');
  socket.terminate();
  const ben = await resume(url, 'ben', sessionId);
  const { client: annaAgain } = await dial(url, 'anna');
  await annaAgain.handshake();
  writeFileSync(folder.file('gate'), '\n');
  await kept(annaAgain, 'job');
  expect(await ben.call('process/list')).toEqual({ processes: [] });
  const write = { processId: 'job', writeId: 'w', chunk: '' };
  expect(await ben.call('process/write', write)).toEqual({ status: 'unknownProcess' });
  const { processes } = await annaAgain.call('process/list', { scope: 'server' });
  expect(processes).toMatchObject([{ processId: 'job', attached: 0 }]);
});

/** Asks until the process is there. */
async function kept(client: WireClient, processId: string): Promise<void> {
  for (;;) {
    const { processes } = await client.call('process/list', { scope: 'server' });
    if ((processes as { processId: string }[]).some((row) => row.processId === processId)) return;
  }
}
