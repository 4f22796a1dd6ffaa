import { afterEach, beforeEach, expect, test } from 'vitest';
import { RegistrySite, TestLine } from './registry-site.js';

let site: RegistrySite;
beforeEach(async () => {
  site = await RegistrySite.open();
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

test('frames pass in both directions, to those they are meant for', async () => {
  const { line: machine } = await site.machine();
  const one = await site.client('one');
  expect(await machine.next()).toBe('one resume');
  const two = await site.client('two');
  expect(await machine.next()).toBe('two resume');
  machine.say('two', 'for two');
  machine.say('nobody', 'lost');
  machine.say('one', 'for one');
  expect(await one.next()).toBe('one data for one');
  expect(await two.next()).toBe('two data for two');
  one.say('one', 'hello');
  expect(await machine.next()).toBe('one data hello');
});

test('the machine learns at once that a client is gone', async () => {
  const { line: machine } = await site.machine();
  const client = await site.client('one');
  await machine.next();
  client.hangUp();
  expect(await machine.next()).toBe('one reset client_disconnected');
  // The name is free again.
  await site.client('one');
  expect(await machine.next()).toBe('one resume');
});

test('clients are disconnected with their machine, and asked to wait until it is back', async () => {
  const { line: machine, registration } = await site.machine();
  const client = await site.client('one');
  await machine.next();
  machine.hangUp();
  expect(await client.closed).toEqual({ code: 1001, reason: 'the machine is gone' });
  expect(await site.call('a/connect', { token: 'client', body: {} })).toMatchObject({ status: 400 });
  expect(await site.connect()).toMatchObject({ error: { code: 'environment_unavailable' } });
  const again = await TestLine.open(registration['url'] ?? '');
  await site.client('two');
  expect(await again.next()).toBe('two resume');
});

test('a stream that either side ends is over for both', async () => {
  const { line: machine } = await site.machine();
  const one = await site.client('one');
  await machine.next();
  machine.send('one', { kind: 'reset', reason: 'enough' });
  expect(await one.next()).toBe('one reset enough');
  expect((await one.closed).code).toBe(1001);
  const two = await site.client('two');
  expect(await machine.next()).toBe('two resume');
  two.send('two', { kind: 'reset', reason: 'bye' });
  expect(await machine.next()).toBe('two reset bye');
  expect((await two.closed).code).toBe(1001);
  // The machine was told once only.
  await site.client('three');
  expect(await machine.next()).toBe('three resume');
});

test('a client gets neither the stream of another nor a second one', async () => {
  const { line: machine } = await site.machine();
  const victim = await site.client('one');
  await machine.next();
  const thief = await site.client('one');
  expect(await thief.closed).toEqual({ code: 1002, reason: 'the stream is taken' });
  const other = await site.client('two');
  await machine.next();
  other.say('one', 'forged');
  expect((await other.closed).code).toBe(1002);
  expect(await machine.next()).toBe('two reset client_disconnected');
  victim.say('one', 'still here');
  expect(await machine.next()).toBe('one data still here');
});

test.each([
  ['text', 'hello'],
  ['no frame', Buffer.from([0xff, 0xff])],
  ['no version', Buffer.from([0x12, 1, 0x61])],
  ['no stream', Buffer.from([0x08, 1])],
  ['an endless length', Buffer.from([0x08, 1, 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61])],
])('whoever sends %s is disconnected, and nobody else', async (_, message) => {
  const { line: machine } = await site.machine();
  const witness = await site.client('one');
  await machine.next();
  const client = await site.client();
  client.socket.send(message);
  expect((await client.closed).code).toBe(1002);
  witness.say('one', 'undisturbed');
  expect(await machine.next()).toBe('one data undisturbed');
});

test('a message above 256 KiB ends the line it came on', async () => {
  const { line: machine } = await site.machine();
  const client = await site.client('one');
  await machine.next();
  client.say('one', 'x'.repeat(256 * 1024));
  expect((await client.closed).code).toBe(1009);
  expect(await machine.next()).toBe('one reset client_disconnected');
});

test('an address leads a client in once, and nobody guesses one', async () => {
  const { line: machine } = await site.machine();
  const { url = '' } = await site.connect();
  const client = await TestLine.open(url);
  await expect(TestLine.open(url)).rejects.toThrow('404');
  const guess = url.replace(/[^/]+$/, 'A'.repeat(43));
  await expect(TestLine.open(guess)).rejects.toThrow('404');
  // The secret of a client does not make it a machine, nor the other way round.
  await expect(
    TestLine.open((await site.connect())['url']?.replace('client', 'machine') ?? ''),
  ).rejects.toThrow('404');
  client.send('one', { kind: 'resume' });
  expect(await machine.next()).toBe('one resume');
});

test('of two machines with one id, the newer one wins and the older one waits', async () => {
  const { line: first, registration } = await site.machine();
  const client = await site.client('one');
  await first.next();
  const newer = await site.register();
  // Nothing happens before it is connected.
  client.say('one', 'still');
  expect(await first.next()).toBe('one data still');
  const second = await TestLine.open(newer['url'] ?? '');
  expect((await first.closed).reason).toBe('another machine has registered with this id');
  await client.closed;
  // 503: Codex dials again later and does not register anew, which would push the newer one out.
  await expect(TestLine.open(registration['url'] ?? '')).rejects.toThrow('503');
  await site.client('two');
  expect(await second.next()).toBe('two resume');
});

test('a machine that connects again replaces its own earlier line', async () => {
  const { line: first, registration } = await site.machine();
  const client = await site.client('one');
  await first.next();
  const second = await TestLine.open(registration['url'] ?? '');
  expect((await first.closed).code).toBe(1001);
  expect((await client.closed).code).toBe(1001);
  await site.client('two');
  expect(await second.next()).toBe('two resume');
});

test('one token takes no more than half of the places of a machine', async () => {
  const { line: machine } = await site.machine();
  const greedy = await Promise.all(Array.from({ length: 64 }, () => site.client()));
  await expect(site.client()).rejects.toThrow('503');
  await site.client('mine', 'client-2');
  expect(await machine.next()).toBe('mine resume');
  for (const each of greedy) each.hangUp();
  await Promise.all(greedy.map(({ closed }) => closed));
});

test('a token has a limited number of unused addresses', async () => {
  await site.machine();
  const answers = await Promise.all(Array.from({ length: 65 }, () => site.connect()));
  expect(answers.filter((answer) => 'error' in answer)).toMatchObject([
    { error: { code: 'too_many_connections' } },
  ]);
  expect(await site.connect('a', 'client-2')).toHaveProperty('url');
});

test('a flood for a client that does not read waits at the machine, and nothing of it is lost', async () => {
  const { line: machine } = await site.machine();
  const client = await site.client('one');
  await machine.next();
  client.socket.pause();
  const frames = 400;
  const text = 'x'.repeat(100_000);
  for (let seq = 0; seq < frames; seq += 1) machine.say('one', text, seq);
  // What the sockets of this machine buffer on the way does not hold half of it, nor does the router.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(machine.socket.bufferedAmount).toBeGreaterThan((frames * text.length) / 2);
  client.socket.resume();
  for (let seq = 0; seq < frames; seq += 1) await client.next();
  expect(client.bytes).toBeGreaterThan(frames * text.length);
});

test('a flood from a client waits at the client while the machine does not read', async () => {
  const { line: machine } = await site.machine();
  const client = await site.client('one');
  await machine.next();
  machine.socket.pause();
  const frames = 400;
  const text = 'x'.repeat(100_000);
  for (let seq = 0; seq < frames; seq += 1) client.say('one', text, seq);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(client.socket.bufferedAmount).toBeGreaterThan((frames * text.length) / 2);
  machine.socket.resume();
  for (let seq = 0; seq < frames; seq += 1) await machine.next();
  expect(machine.bytes).toBeGreaterThan(frames * text.length);
});
