import { once } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TestConsole, type Visitor } from '../harness/console.js';
import { frame, TEXT_BEGINS } from './deflate-bombs.js';
import { tally } from './tally.js';

const MEBIBYTE = 1024 * 1024;
/** As many as viewers have together. */
const PLACES = 256;
const SIGN_INS = 130;

let opened: TestConsole;
let owner: Visitor;
let key: string;
beforeEach(async () => {
  opened = await TestConsole.open({ maxUnfinishedBytes: 8 * MEBIBYTE });
  owner = await opened.signIn();
  ({ key } = (await (await opened.call(owner, 'POST', '/api/links', {})).json()) as { key: string });
});
afterEach(() => opened[Symbol.asyncDispose]());

async function view(who: Visitor): Promise<WebSocket> {
  const socket = await opened.connect(who);
  if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
  return socket;
}

describe('somebody who may only view', () => {
  test('does not sign out the owner, however often he signs in', async () => {
    let latest = owner;
    for (let count = 0; count < SIGN_INS; count += 1) latest = await opened.signIn(key);
    expect((await opened.call(latest, 'GET', '/api/session')).status).toBe(200);
    const { status } = await opened.call(owner, 'GET', '/api/session');
    tally('viewers that sign in', { tries: SIGN_INS, successes: status === 200 ? 0 : 1 });
    expect(status).toBe(200);
  });

  test('does not take all places', async () => {
    const who = await opened.signIn(key);
    const held: WebSocket[] = [];
    while (held.length < PLACES)
      held.push(...(await Promise.all(Array.from({ length: 32 }, () => view(who)))));
    expect(await opened.connect(who)).toBe(503);
    const socket = await opened.connect(owner);
    tally('viewers that take places', { tries: PLACES, successes: socket instanceof WebSocket ? 0 : 1 });
    expect(socket).toBeInstanceOf(WebSocket);
    // A place that is given back is free.
    const [first] = held;
    first?.terminate();
    await expect.poll(() => opened.connect(who)).toBeInstanceOf(WebSocket);
    for (const each of held) each.terminate();
  });

  test('does not fill the memory with messages that never end', async () => {
    const who = await opened.signIn(key);
    const mine = await view(owner);
    const sockets = await Promise.all(Array.from({ length: 6 }, () => view(who)));
    const ended: string[] = [];
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      void once(socket, 'close').then(([code]) => ended.push(String(code)));
      const raw = Reflect.get(socket, '_socket') as Socket;
      raw.write(frame(TEXT_BEGINS, Buffer.alloc(4 * MEBIBYTE, 0x20)));
    }
    // Two of them fit.
    await expect.poll(() => ended.length).toBeGreaterThanOrEqual(4);
    expect(mine.readyState).toBe(mine.OPEN);
    tally('viewers with unfinished messages', { tries: sockets.length, successes: 0 });
    for (const socket of [mine, ...sockets]) socket.terminate();
  });
});
