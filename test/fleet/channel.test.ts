import { describe, expect, test } from 'vitest';
import { binaryMessage } from '../../src/rpc/index.js';
import { Assembly } from '../../src/fleet/channel/assembly.js';
import { Kind, readDatagram } from '../../src/fleet/channel/index.js';
import { Flag } from '../../src/fleet/channel/datagram.js';
import { Heard, LossyBus } from '../harness/lossy-bus.js';
import { seededRandom } from '../harness/random.js';

const ignore = (): void => undefined;

/** Texts of all sizes, some longer than a window. */
function texts(seed: number, count: number): string[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const length = random() < 0.1 ? random() * 300_000 : random() * 2_000;
    return `${index}:${'ä€x'.repeat(Math.floor(length / 3))}`;
  });
}

describe('a channel over a bus', () => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'delivers everything once and in order, whatever the bus loses, repeats and delays (seed %i)',
    async (seed) => {
      const bus = new LossyBus({ seed, loss: 0.1, repeat: 0.2, late: 0.2 });
      const [left, right] = bus.ends;
      const heard = [new Heard(left), new Heard(right)] as const;
      const [there, back] = [texts(seed, 100), texts(seed + 1000, 100)];
      for (const text of there) left.send(text, ignore);
      for (const text of back) right.send(text, ignore);
      await bus.tickUntil(() => heard[1].messages.length >= 100 && heard[0].messages.length >= 100);
      for (let extra = 0; extra < 10; extra += 1) await bus.tick();
      expect(heard[1].messages).toEqual(there);
      expect(heard[0].messages).toEqual(back);
    },
  );

  test('carries binary frames as they are, and parts as one message', async () => {
    const bus = new LossyBus({ loss: 0.2 });
    const [left, right] = bus.ends;
    const heard = new Heard(right);
    const frame = binaryMessage('{"method":"x","bytes":"y"}', Buffer.alloc(100_000, 7));
    left.send(frame, ignore);
    left.sendPart(Buffer.from('{"a":'), { isLast: false, isFrame: false }, ignore);
    left.sendPart(Buffer.from('1}'), { isLast: true, isFrame: false }, ignore);
    await bus.tickUntil(() => heard.messages.length === 2);
    expect(heard.messages).toEqual([Buffer.from(frame.joined()), '{"a":1}']);
  });

  test('calls flushed once for each message, in order, after it was sent', async () => {
    const bus = new LossyBus();
    const [left, right] = bus.ends;
    const heard = new Heard(right);
    const flushed: number[] = [];
    for (let index = 0; index < 50; index += 1) left.send('x'.repeat(10_000), () => flushed.push(index));
    expect(flushed).toEqual([]);
    await bus.tickUntil(() => flushed.length === 50);
    expect(flushed).toEqual(Array.from({ length: 50 }, (_, index) => index));
    await bus.tickUntil(() => heard.messages.length === 50);
  });

  test('a reader that stops reading stops the writer within its window, and loses nothing', async () => {
    const bus = new LossyBus();
    const [left, right] = bus.ends;
    const heard = new Heard(right);
    await bus.tick();
    right.pause();
    let flushed = 0;
    for (let index = 0; index < 100; index += 1) left.send('x'.repeat(16_000), () => (flushed += 1));
    for (let ticks = 0; ticks < 50; ticks += 1) await bus.tick();
    expect(heard.messages).toEqual([]);
    expect(flushed).toBeLessThanOrEqual(bus.shares[1].first / 16_000);
    right.resume();
    await bus.tickUntil(() => heard.messages.length === 100);
  });

  test('closes after everything that was sent, and both sides know why', async () => {
    const bus = new LossyBus({ loss: 0.3, seed: 4 });
    const [left, right] = bus.ends;
    const [near, far] = [new Heard(left), new Heard(right)];
    for (const text of texts(4, 20)) left.send(text, ignore);
    left.close('done');
    await bus.tickUntil(() => near.closed !== undefined && far.closed !== undefined);
    expect(far.messages).toEqual(texts(4, 20));
    expect(far.closed).toEqual({ clean: true, message: 'done' });
    expect(near.closed).toEqual({ clean: true, message: 'done' });
    expect(bus.ended).toBe(2);
  });

  test('a reader that has stopped reading learns of the end, too', async () => {
    const bus = new LossyBus();
    const [left, right] = bus.ends;
    const [near, far] = [new Heard(left), new Heard(right)];
    await bus.tick();
    right.pause();
    left.send('x'.repeat(500_000), ignore);
    left.destroy('enough');
    await bus.tickUntil(() => far.closed !== undefined);
    expect(far.closed).toEqual({ clean: false, message: 'enough' });
    expect(near.closed).toEqual({ clean: false, message: 'enough' });
  });

  test('a bus that is cut for a while is noticed as a pause only', async () => {
    const bus = new LossyBus();
    const [left, right] = bus.ends;
    const [near, far] = [new Heard(left), new Heard(right)];
    left.send('before', ignore);
    await bus.tickUntil(() => far.messages.length === 1);
    bus.isCut = true;
    left.send('during', ignore);
    right.send('back', ignore);
    for (let ticks = 0; ticks < 150; ticks += 1) await bus.tick();
    bus.isCut = false;
    await bus.tickUntil(() => far.messages.length === 2 && near.messages.length === 1);
    expect([near.closed, far.closed]).toEqual([undefined, undefined]);
  });

  test('what both sides have sent into a cut arrives as soon as one of them says that it is back', async () => {
    const bus = new LossyBus();
    const [left, right] = bus.ends;
    const [near, far] = [new Heard(left), new Heard(right)];
    await bus.tick();
    bus.isCut = true;
    left.send('there', ignore);
    right.send('back', ignore);
    for (let ticks = 0; ticks < 30; ticks += 1) await bus.tick();
    bus.isCut = false;
    right.synchronize();
    await bus.pass();
    expect([near.messages, far.messages]).toEqual([['back'], ['there']]);
  });

  test('silence for 20 s ends a channel; both ends say that the other one went silent', async () => {
    const bus = new LossyBus();
    const heard = bus.ends.map((end) => new Heard(end));
    bus.isCut = true;
    for (let ticks = 0; ticks < 199; ticks += 1) await bus.tick();
    expect(heard.map(({ closed }) => closed)).toEqual([undefined, undefined]);
    await bus.tickUntil(() => heard.every(({ closed }) => closed !== undefined));
    const silent = { clean: false, message: 'nothing arrived from the other side', silent: true };
    expect(heard.map(({ closed }) => closed)).toEqual([silent, silent]);
  });

  test('a machine without subscribers for 3 s is given up, one that returns before is not', async () => {
    const bus = new LossyBus();
    const heard = bus.ends.map((end) => new Heard(end));
    bus.ends[0].nobody();
    for (let ticks = 0; ticks < 25; ticks += 1) await bus.tick();
    expect(heard[0]?.closed).toBeUndefined();
    bus.isCut = true;
    bus.ends[0].nobody();
    for (let ticks = 0; ticks < 35; ticks += 1) await bus.tick();
    expect(heard[0]?.closed).toMatchObject({ clean: false, message: 'the other side has left the bus' });
  });

  test('whoever does not answer a probe is given up within 3 s', async () => {
    const bus = new LossyBus();
    const heard = bus.ends.map((end) => new Heard(end));
    bus.ends[0].probe();
    for (let ticks = 0; ticks < 30; ticks += 1) await bus.tick();
    expect(heard[0]?.closed).toBeUndefined();
    bus.isCut = true;
    await bus.tick();
    bus.ends[0].probe();
    for (let ticks = 0; ticks < 30; ticks += 1) await bus.tick();
    expect(heard[0]?.closed).toMatchObject({ clean: false, silent: true });
  });
});

describe('a hostile other side', () => {
  const header = { flags: 1, received: 0, credit: 0, payload: Buffer.alloc(0) };

  test('cannot send more than it was granted', async () => {
    const bus = new LossyBus();
    const [left] = bus.ends;
    const heard = new Heard(left);
    await bus.tick();
    left.pause();
    for (let seq = 1; seq <= 10; seq += 1)
      left.receive({ ...header, kind: Kind.data, seq, payload: Buffer.alloc(16_384) });
    await bus.tick();
    expect(heard.closed).toEqual({ clean: false, message: 'the other side sent more than it was granted' });
  });

  test('cannot make a channel hold what comes after a gap', async () => {
    const bus = new LossyBus();
    const [left] = bus.ends;
    const heard = new Heard(left);
    for (let seq = 2; seq <= 10_000; seq += 1) left.receive({ ...header, kind: Kind.data, seq });
    await bus.tick();
    expect(heard).toMatchObject({ messages: [], closed: undefined });
  });

  test('cannot make a channel keep fragments without end, however short they are', () => {
    const assembly = new Assembly({ grow: ignore, forget: ignore });
    const nobody = { message: ignore, closed: ignore };
    const fragment = { ...header, kind: Kind.data, flags: 0, seq: 1 };
    let wrong: string | undefined;
    for (let count = 1; count <= 1_500_000 && wrong === undefined; count += 1)
      wrong = assembly.add(fragment, nobody);
    expect(wrong).toBe('a message is too long');
  });

  test('cannot have a window sent again and again with a few bytes each time', async () => {
    const bus = new LossyBus();
    const [left] = bus.ends;
    await bus.tick();
    left.send('x'.repeat(1_000_000), ignore);
    const ask = { ...header, kind: Kind.state, flags: Flag.resend, seq: 0 };
    bus.isCut = true;
    const before = bus.posted;
    for (let time = 0; time < 1_000; time += 1) left.receive(ask);
    const once = bus.posted - before;
    expect(once).toBeLessThanOrEqual(5);
    // What was asked for meanwhile is not forgotten.
    await bus.tick();
    expect(bus.posted - before).toBeGreaterThanOrEqual(once * 2);
    expect(bus.posted - before).toBeLessThan(once * 3);
  });

  test('cannot acknowledge what was never sent', async () => {
    const bus = new LossyBus();
    const [left] = bus.ends;
    const heard = new Heard(left);
    left.receive({ ...header, kind: Kind.state, flags: 0, seq: 0, received: 5 });
    await bus.tickUntil(() => heard.closed !== undefined);
    expect(heard.closed?.message).toBe('the other side acknowledged something that was never sent');
  });

  test.each([
    ['too short', Buffer.alloc(10)],
    ['too long', Buffer.alloc(20_000)],
    ['a number that is none', Buffer.alloc(26, 0xff)],
  ])('gets nothing for a datagram that is %s', (_, bytes) => {
    expect(readDatagram(bytes)).toBeNull();
  });
});
