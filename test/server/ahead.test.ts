import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/environment/index.js';
import { serve } from '../../src/server/index.js';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';

const AHEAD = { capabilities: { ahead: true } };

function say(method: string, params: unknown, id?: string): string {
  return JSON.stringify({ ...(id === undefined ? {} : { id }), method, params });
}

function withoutDirectory(processId: string): object {
  const { cwd: _, ...params } = startParams(processId, ['pwd']) as { cwd: string };
  return params;
}

test('a start in the same flight as the handshake runs where the server does', async () => {
  await using server = await serve();
  const { client } = await dialWire(String(server.urls[0]));
  client.send(say('initialize', { clientName: 'test', ...AHEAD }, 'hello'));
  client.send(say('initialized', {}));
  client.send(say('process/start', withoutDirectory('p'), 'start'));
  expect((await client.answerTo('start')).result).toMatchObject({ processId: 'p' });
  expect((await client.answerTo('hello')).result).toMatchObject({ capabilities: { ahead: true } });
  await client.closedEvents('p');
  expect(client.output('p').toString()).toBe(`${process.cwd()}\n`);
  client.close();
});

test('who did not announce it has to name a directory, as with Codex', async () => {
  await using server = await serve();
  const { client } = await dialWire(String(server.urls[0]));
  expect((await client.call('initialize', { clientName: 'test' })).capabilities).not.toHaveProperty('ahead');
  client.send(say('initialized', {}));
  expect(await client.refusal('process/start', withoutDirectory('p'))).toBe(-32602);
  client.close();
});

test('a refused handshake refuses what came with it, and another one may follow', async () => {
  await using server = await serve();
  const { client } = await dialWire(String(server.urls[0]));
  client.send(say('initialize', { clientName: 'test', resumeSessionId: 'gone', ...AHEAD }, 'hello'));
  client.send(say('initialized', {}));
  client.send(say('process/ack', { processId: 'p', seq: 1 }));
  client.send(say('process/start', withoutDirectory('p'), 'start'));
  expect((await client.answerTo('hello')).error?.data).toEqual({ code: 'sessionNotFound' });
  expect((await client.answerTo('start')).error?.data).toEqual({ code: 'notInitialized' });
  await client.handshake(AHEAD);
  expect(await client.call('process/list')).toEqual({ processes: [] });
  client.close();
});

test('the answer to a resume comes before the answers to what was sent along with it', async () => {
  await using server = await serve();
  const url = String(server.urls[0]);
  const first = await dialWire(url);
  const sessionId = await first.client.handshake({ capabilities: { ahead: true, flowControl: true } });
  await first.client.call('process/start', startParams('p', ['head', '-c', '300000', '/dev/zero']));
  await first.client.closedEvents('p');
  first.client.close();
  await first.client.untilClosed();
  const { client, socket } = await dialWire(url);
  // Held back until all of it is written, so that it arrives together.
  const stream = Reflect.get(socket, '_socket') as Socket;
  stream.cork();
  client.send(say('initialize', { clientName: 'test', resumeSessionId: sessionId, ...AHEAD }, 'hello'));
  client.send(say('initialized', {}));
  client.send(say('process/read', { processId: 'p' }, 'read'));
  stream.uncork();
  await client.answerTo('read');
  expect(client.arrivals.map((each) => ('id' in each ? each.id : 'notification'))).toEqual(['hello', 'read']);
  client.close();
});

test('without the announcement going on behind a refusal ends the connection', async () => {
  await using server = await serve();
  const { client } = await dialWire(String(server.urls[0]));
  client.send(say('initialize', { clientName: 'test', resumeSessionId: 'gone' }, 'hello'));
  client.send(say('initialized', {}));
  expect(await client.untilClosed()).toMatchObject({ code: 1002 });
});

test('a library that does not wait for the handshake runs a program, and hears why it is refused', async () => {
  await using server = await serve({ maxSessions: 1 });
  const url = String(server.urls[0]);
  await using environment = await openEnvironment(url, { early: true });
  expect(environment.lost).toBe(false);
  expect(await environment.run(['pwd'])).toMatchObject({ stdout: `${process.cwd()}\n`, exitCode: 0 });
  expect((await environment.info()).shell.path).toBeTruthy();
  await using refused = await openEnvironment(url, { early: true });
  await expect(refused.run(['true'])).rejects.toMatchObject({ code: 'tooManySessions' });
  await expect(openEnvironment(url)).rejects.toMatchObject({ code: 'tooManySessions' });
});
