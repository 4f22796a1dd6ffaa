import { closeSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPipe, receiveMessage, sendMessage, socketPair } from '../../src/host/kernel/index.js';
import { Bell, MAX_WAITING, PATIENCE_MS } from '../../src/keeper/bell.js';
import { Inbox } from '../../src/keeper/inbox.js';

describe('a bell', () => {
  let keeper = -1;
  let bell: Bell;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const [ours, theirs] = socketPair();
    const made = Bell.create((fd) => sendMessage(ours, 'bell', [fd]));
    const received = receiveMessage(theirs);
    if (!made || received === null || received === 'end') throw new Error('no bell was given');
    [keeper = -1] = received.descriptors;
    bell = made;
    for (const fd of [ours, theirs]) closeSync(fd);
  });
  afterEach(() => {
    closeSync(keeper);
    vi.useRealTimers();
  });

  const rings = (): number => {
    let count = 0;
    while (receiveMessage(keeper) !== null) count += 1;
    return count;
  };

  test('rings once for all messages that can wait', () => {
    bell.ringLater();
    bell.ringLater();
    vi.advanceTimersByTime(PATIENCE_MS - 1);
    expect(rings()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(rings()).toBe(1);
    vi.advanceTimersByTime(10 * PATIENCE_MS);
    expect(rings()).toBe(0);
  });

  test('rings at once for one that cannot, and for all before it', () => {
    bell.ringLater();
    bell.ring();
    expect(rings()).toBe(1);
    vi.advanceTimersByTime(10 * PATIENCE_MS);
    expect(rings()).toBe(0);
  });

  test('does not let too many wait', () => {
    for (let sent = 0; sent < 2 * MAX_WAITING; sent += 1) bell.ringLater();
    expect(rings()).toBe(2);
    bell.ringLater();
    vi.advanceTimersByTime(PATIENCE_MS);
    expect(rings()).toBe(1);
  });
});

describe('the inbox of a keeper', () => {
  const spoil = (key: string): string => JSON.stringify({ op: 'spoil', key });

  function open(): { server: number; inbox: Inbox; heard: string[] } {
    const [ours, server] = socketPair();
    const heard: string[] = [];
    const inbox = new Inbox(ours, (message) => void heard.push('key' in message ? message.key : message.op));
    return { server, inbox, heard };
  }

  /** Returns our end. */
  function giveBell({ server, inbox }: { server: number; inbox: Inbox }): number {
    const [ours, theirs] = socketPair();
    sendMessage(server, '{"op":"bell"}', [theirs]);
    closeSync(theirs);
    inbox.read();
    return ours;
  }

  test('is read as messages arrive, without a bell', async () => {
    const { server, inbox, heard } = open();
    sendMessage(server, spoil('first'));
    await vi.waitUntil(() => heard.length === 1);
    sendMessage(server, '{"op":"bell"}');
    sendMessage(server, spoil('without a descriptor'));
    await vi.waitUntil(() => heard.length === 2);
    inbox.close();
    closeSync(server);
  });

  test('waits for its bell, and then hears everything in order', async () => {
    const opened = open();
    const { server, inbox, heard } = opened;
    const bell = giveBell(opened);
    const other = open();
    sendMessage(server, spoil('first'));
    // Once another one has heard something that was sent later, this one would have, too.
    sendMessage(other.server, spoil('other'));
    await vi.waitUntil(() => other.heard.length === 1);
    expect(heard).toEqual([]);
    sendMessage(server, spoil('second'));
    sendMessage(bell, '!');
    await vi.waitUntil(() => heard.length === 2);
    expect(heard).toEqual(['first', 'second']);
    for (const each of [inbox, other.inbox]) each.close();
    for (const fd of [server, bell, other.server]) closeSync(fd);
  });

  test('has what a server sent that died before it could ring', () => {
    const opened = open();
    const { server, inbox, heard } = opened;
    const bell = giveBell(opened);
    const { readEnd, writeEnd } = openPipe();
    sendMessage(server, spoil('last'), [readEnd]);
    for (const fd of [server, bell, readEnd, writeEnd]) closeSync(fd);
    inbox.read();
    expect(heard).toEqual(['last']);
    expect(inbox.open).toBe(false);
  });

  test('leaves no descriptor open', () => {
    const opened = open();
    const { server, inbox } = opened;
    const bell = giveBell(opened);
    inbox.close();
    inbox.close();
    expect(receiveMessage(server)).toBe('end');
    expect(receiveMessage(bell)).toBe('end');
    for (const fd of [server, bell]) closeSync(fd);
  });
});
