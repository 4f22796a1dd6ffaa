// Needs: nats-server
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { Fleet, FleetMember } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { guardedFleet } from './guarded-fleet.js';

const { of, as, good } = guardedFleet();

/** What the server says to a subscription. */
async function subscribing(connection: NatsConnection, subject: string): Promise<string> {
  return await new Promise((resolve) => {
    connection.subscribe(subject, {
      callback: (error) => {
        if (error) resolve(error.message);
      },
    });
    void connection.flush().then(() => setTimeout(resolve, 300, 'allowed'));
  });
}

async function publishing(connection: NatsConnection, subject: string): Promise<string> {
  const refused = (async () => {
    for await (const status of connection.status()) if (status.type === 'error') return status.error.message;
    return 'closed';
  })();
  connection.publish(subject, 'x');
  return await Promise.race([
    refused,
    connection.flush().then(() => new Promise<string>((resolve) => setTimeout(resolve, 300, 'allowed'))),
  ]);
}

const REFUSED = /permissions violation/i;

test.each(['alice', 'carol'] as const)(
  'members with the right credentials work together: %s',
  async (client) => {
    await using fleet = await Fleet.connect(of(client));
    await using environment = await RemoteEnvironment.connect({
      id: 'good',
      dial: () => fleet.dial('good'),
      resume: true,
    });
    const { stdout } = await environment.run(['echo', 'hi']);
    expect(stdout).toBe('hi\n');
    expect((await fleet.list()).map(({ name }) => name)).toEqual(['good']);
  },
);

test('a client of some machines hears their news at once', async () => {
  await using fleet = await Fleet.connect(of('carol'));
  await using admin = await Fleet.connect(of('root'));
  const events = fleet.watch()[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ type: 'joined', machine: { name: 'good' } });
  const states = ['cordoned', 'ready', 'cordoned', 'ready'] as const;
  for (const state of states) await admin.setState('good', state);
  // Roll calls are two seconds apart, and would miss what lasted a moment.
  for (const state of states)
    expect((await events.next()).value).toMatchObject({ type: 'changed', machine: { state } });
  await events.return(undefined);
});

test('nobody gets in without credentials', async () => {
  await expect(Fleet.connect({ servers: of('alice').servers, fleet: 'f' })).rejects.toMatchObject({
    code: 'notConnected',
    message: expect.stringContaining('the NATS server rejected the credentials'),
  });
});

describe('a machine with valid credentials', () => {
  test.each([
    ['reads what clients send to another machine', 'ew.f.i.good.>'],
    ['reads what another machine sends', 'ew.f.o.good.>'],
    ['answers in the name of another machine', 'ew.f.open.good.*'],
    ['is asked in the name of another machine', 'ew.f.whois.good'],
    ['listens to answers of clients', '_INBOX_alice.>'],
    ['listens to everything', '>'],
  ])('cannot see it when it %s', async (_, subject) => {
    expect(await subscribing(await as('evil'), subject)).toMatch(REFUSED);
  });

  test.each([
    ['speaks to a client as another machine', 'ew.f.o.good.alice.c.1-1'],
    ['asks another machine for a channel', 'ew.f.open.good.evil'],
    ['speaks on the channel of a client', 'ew.f.i.good.alice.c.1-1'],
    ['announces another machine', 'ew.f.news.good'],
    ['changes the state of another machine', 'ew.f.control.good.evil'],
    ['answers a client that has not asked', '_INBOX_alice.x'],
    ['enters another machine into the registry', '$KV.ew-f-machines.good'],
    ['claims a job as another machine', 'ew.f.job.log.alice.x.1.good'],
    ['ends a job as its client', 'ew.f.job.log.alice.x.1.~client'],
    ['reports a result of another machine', 'ew.f.job.end.good.alice.x.1'],
    ['prints as another machine', 'ew.f.output.good.alice.x.1'],
    ['submits a job', 'ew.f.job.spec.~any.evil.x'],
    ['reads jobs for another machine', '$JS.API.CONSUMER.CREATE.ew-f-jobs.x.ew.f.job.spec.good.*.*'],
    ['reads all jobs', '$JS.API.CONSUMER.CREATE.ew-f-jobs'],
    ['reads all jobs for good', '$JS.API.CONSUMER.DURABLE.CREATE.ew-f-jobs.x'],
    ['reads messages by number', '$JS.API.STREAM.MSG.GET.ew-f-jobs'],
    ['reads what jobs print', '$JS.API.CONSUMER.CREATE.ew-f-output.x.ew.f.output.*.*.*.*'],
    ['empties the queue', '$JS.API.STREAM.PURGE.ew-f-jobs'],
    ['changes the queue', '$JS.API.STREAM.UPDATE.ew-f-jobs'],
  ])('is refused when it %s', async (_, subject) => {
    expect(await publishing(await as('evil'), subject)).toMatch(REFUSED);
  });

  test('cannot join under the name of another one', async () => {
    const other = new ExecServer();
    await expect(FleetMember.join(of('evil'), { name: 'good', server: other })).rejects.toMatchObject({
      message: 'These credentials do not allow joining the fleet as "good".',
    });
    await using fleet = await Fleet.connect(of('alice'));
    expect((await fleet.describe('good')).epoch).toBe(good().describe().epoch);
    await other.close();
  });
});

describe('a client outside its machines', () => {
  test('cannot reach another one, and is told so', async () => {
    await using fleet = await Fleet.connect(of('mallory'));
    await expect(fleet.dial('good')).rejects.toMatchObject({
      code: 'notConnected',
      message: 'The credentials in use do not give access to "good".',
    });
    expect(await fleet.list()).toEqual([]);
  });

  test.each([
    ['speaks as another client', 'ew.f.i.good.alice.c.1-1'],
    ['opens a channel as another client', 'ew.f.open.good.alice'],
    ['opens a channel to another machine', 'ew.f.open.good.mallory'],
    ['asks who else is there', 'ew.f.who'],
    ['drains a machine', 'ew.f.control.evil.mallory'],
    ['submits a job for any machine', 'ew.f.job.spec.~any.mallory.x'],
    ['submits a job for another machine', 'ew.f.job.spec.good.mallory.x'],
    ['submits a job as another client', 'ew.f.job.spec.evil.alice.x'],
    ['claims a job', 'ew.f.job.log.mallory.x.1.evil'],
    ['reports a result', 'ew.f.job.end.evil.mallory.x.1'],
    ['cancels a job of another client', 'ew.f.job.log.alice.x.1.~client'],
    ['breaks the lease of a job of another client', 'ew.f.job.lease.alice.x'],
    ['reads jobs of another client', '$JS.API.CONSUMER.CREATE.ew-f-jobs.x.ew.f.job.spec.*.alice.*'],
    ['reads the result of another client', '$JS.API.DIRECT.GET.ew-f-jobs.ew.f.job.end.good.alice.x.1'],
    ['reads output of another client', '$JS.API.CONSUMER.CREATE.ew-f-output.x.ew.f.output.*.alice.*.*'],
    ['lists the registry', '$JS.API.CONSUMER.CREATE.ew-f-machines.x.$KV.ew-f-machines.>'],
  ])('is refused when it %s', async (_, subject) => {
    expect(await publishing(await as('mallory'), subject)).toMatch(REFUSED);
  });

  test('cannot read what machines send to others', async () => {
    expect(await subscribing(await as('mallory'), 'ew.f.o.*.alice.>')).toMatch(REFUSED);
    expect(await subscribing(await as('mallory'), '_INBOX_alice.>')).toMatch(REFUSED);
  });
});

describe('jobs', () => {
  test('a client of some machines submits to those, and sees its own jobs only', async () => {
    await using alice = await Fleet.connect(of('alice'));
    await using mallory = await Fleet.connect(of('mallory'));
    const [hers, his] = await Promise.all([alice.jobs(), mallory.jobs()]);
    const { id } = await hers.submit({ on: 'name=nobody', argv: ['true'] });
    await expect(his.submit({ on: '', argv: ['true'] })).rejects.toMatchObject({
      message: 'These credentials reach only some machines: name one of them, such as --on name=evil.',
    });
    const own = await his.submit({ on: 'name=evil', argv: ['true'] });
    expect((await his.list()).map((job) => job.id)).toEqual([own.id]);
    await expect(his.list({ all: true })).rejects.toMatchObject({ code: 'notConnected' });
    await expect(his.cancel(id)).rejects.toMatchObject({ code: 'processNotFound' });
    expect((await hers.describe(id)).state).toBe('queued');
    for (const [jobs, each] of [
      [hers, id],
      [his, own.id],
    ] as const)
      expect(await jobs.cancel(each)).toBe(true);
  });

  test('a request that says one thing in its subject and another in its content is refused', async () => {
    const evil = await as('evil');
    const config = { name: 'x', filter_subject: 'ew.f.job.spec.good.>', ack_policy: 'none' };
    const answer = await evil.request(
      '$JS.API.CONSUMER.CREATE.ew-f-jobs.x.ew.f.job.log.*.*.*.*',
      JSON.stringify({ stream_name: 'ew-f-jobs', config: { ...config, deliver_subject: '_INBOX_evil.d' } }),
    );
    expect(answer.json()).toMatchObject({ error: { code: 400 } });
  });
});

describe('forged and replayed messages', () => {
  test('a client and a machine that conspire cannot speak for others', async () => {
    const evil = await as('evil');
    const mallory = await as('mallory');
    // What mallory asks of evil names a subject for the answer. Were evil allowed to answer there, it could say anything as alice.
    evil.subscribe('ew.f.whois.evil', {
      callback: (_, message) => {
        message.respond('{"state":"draining"}', { reply: '_INBOX_root.x' });
      },
    });
    await evil.flush();
    for (const subject of [
      'ew.f.control.good.root',
      'ew.f.job.spec.~any.alice.forged',
      'ew.f.open.good.alice',
    ])
      mallory.publish('ew.f.whois.evil', '', { reply: subject });
    await mallory.flush();
    await evil.flush();
    await using fleet = await Fleet.connect(of('root'));
    expect((await fleet.describe('good')).state).toBe('ready');
    const jobs = await fleet.jobs();
    expect((await jobs.list({ all: true })).filter(({ id }) => id === 'forged')).toEqual([]);
  });

  test('an answer goes to the inbox of whoever asks and nowhere else', async () => {
    const alice = await as('alice');
    const heard: string[] = [];
    (await as('root')).subscribe('_INBOX_root.>', {
      callback: (_, message) => {
        heard.push(message.subject);
      },
    });
    alice.publish('ew.f.open.good.alice', '{}', { reply: '_INBOX_root.x' });
    alice.publish('ew.f.who', '', { reply: 'ew.f.o.good.root.c.1-1' });
    await alice.flush();
    // Whatever is said afterwards comes later.
    await using fleet = await Fleet.connect(of('root'));
    await fleet.describe('good');
    expect(heard.filter((subject) => subject.endsWith('.x'))).toEqual([]);
  });

  test('garbage and replays on a channel change nothing', async () => {
    const tapped: { subject: string; data: Uint8Array }[] = [];
    const alice = await as('alice');
    alice.subscribe('ew.f.o.*.alice.>', {
      callback: (_, { subject, data }) => {
        tapped.push({ subject, data });
      },
    });
    await using fleet = await Fleet.connect(of('alice'));
    await using environment = await RemoteEnvironment.connect({
      id: 'good',
      dial: () => fleet.dial('good'),
      resume: true,
    });
    const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
    await cat.write(Buffer.from('one\n'));
    const [sent] = tapped;
    if (!sent) throw new Error('nothing was sent');
    const channel = sent.subject.replace('.o.', '.i.');
    alice.publish(channel, 'garbage');
    alice.publish(channel, new Uint8Array(26));
    for (const { data } of tapped.slice(0, 20)) alice.publish(channel, data);
    await alice.flush();
    await cat.write(Buffer.from('two\n'));
    await cat.closeStdin();
    let said = '';
    for await (const event of cat.events())
      if (event.type === 'output') said += Buffer.from(event.bytes).toString();
    expect(said).toBe('one\ntwo\n');
  });
});

test('a client does not take all places of a machine', async () => {
  const alice = await as('alice');
  const answers: { error?: { code: string } }[] = [];
  alice.subscribe('ew.f.a.good.alice.*', { callback: (_, message) => void answers.push(message.json()) });
  for (let index = 0; index <= 1024; index += 1) {
    const request = { connection: 'deadbeef', channel: index.toString(36), credit: 0 };
    alice.publish('ew.f.open.good.alice', JSON.stringify(request), { reply: `ew.f.a.good.alice.${index}` });
  }
  await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(1025);
  expect(answers.filter(({ error }) => error).map(({ error }) => error?.code)).toEqual(['overloaded']);
  await using carol = await Fleet.connect(of('carol'));
  await using environment = await RemoteEnvironment.connect({
    id: 'good',
    dial: () => carol.dial('good'),
    resume: true,
  });
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
});
