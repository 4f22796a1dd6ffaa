import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { seededRandom } from '../harness/random.js';
import { serve } from '../harness/serve.js';

const CUTS = Number(process.env['EXECWIRE_CUTS'] ?? 50);
const MEAN_BYTES_BETWEEN_CUTS = 100_000;

async function open(url: string, resume = true): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'kept', dial: () => dialWebSocket(url), resume });
}

describe('a process with a lease', () => {
  test('survives the environment that started it; another one attaches and types', async () => {
    await using server = await serve();
    const first = await open(server.url);
    const child = await first.start({ argv: ['cat'], pipeStdin: true, lease: 'kept' });
    expect(child.processId).toMatch(/^[a-z2-9]{6}$/);
    await child.write('one\n');
    for await (const line of child.lines()) {
      expect(line).toBe('one');
      break;
    }
    await first.close();
    await using second = await open(server.url);
    expect(await second.kept()).toMatchObject([
      { processId: child.processId, argv: ['cat'], lease: 'kept', attached: 0, exited: false },
    ]);
    const again = await second.attach(child.processId);
    await again.write('two\n');
    await again.closeStdin();
    expect(await again.text()).toBe('one\ntwo\n');
    expect(await second.waitFor(child.processId)).toEqual({ kind: 'exited', exitCode: 0 });
    await expect(second.attach('nobody')).rejects.toMatchObject({ code: 'processNotFound' });
    await expect(second.waitFor('nobody')).rejects.toMatchObject({ code: 'processNotFound' });
  });

  test('from its end, numbers begin where they are', async () => {
    await using server = await serve();
    await using environment = await open(server.url);
    await using viewer = await open(server.url);
    const child = await environment.start({ argv: ['cat'], pipeStdin: true, lease: 60_000, processId: 'p' });
    await child.write('before');
    for await (const event of child.events()) if (event.type === 'output') break;
    const late = await viewer.attach('p', { fromEnd: true, mayPause: false });
    await child.write('after');
    await child.closeStdin();
    const seen = [];
    for await (const event of late.events()) seen.push(event);
    expect(seen).toMatchObject([{ type: 'output', seq: 2 }, { type: 'exited' }, { type: 'closed' }]);
  });

  test('disposing lets go and says so to whoever still reads; terminating ends it', async () => {
    await using server = await serve();
    await using environment = await open(server.url);
    const child = await environment.start({ argv: ['sleep', '1000'], lease: 'kept', processId: 'p' });
    const [reading] = await Promise.allSettled([child.text(), child[Symbol.asyncDispose]()]);
    expect(reading).toMatchObject({ status: 'rejected', reason: { code: 'aborted' } });
    expect(await environment.kept()).toMatchObject([{ processId: 'p', attached: 0, exited: false }]);
    const again = await environment.attach('p');
    await again.terminate();
    expect(await again.wait()).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' });
  });

  test('is refused where everything ends with its client, with the way out', async () => {
    await using local = new LocalEnvironment();
    const refusal = { code: 'unsupported', message: expect.stringContaining('execwire serve') };
    await expect(local.start({ argv: ['true'], lease: 'kept' })).rejects.toMatchObject(refusal);
    await expect(local.attach('p')).rejects.toMatchObject(refusal);
    await expect(local.kept()).rejects.toMatchObject(refusal);
    await using ordinary = await local.start({ argv: ['true'] });
    await expect(ordinary.detach()).rejects.toMatchObject({ code: 'unsupported' });
  });
});

/** Told to go, prints more than a log retains, and then what it is told. */
const ECHO = `
  process.stdin.once('data', (first) => {
    const lines = [];
    for (let n = 0; n < 120000; n += 1) lines.push('line ' + n + ' of the output\\n');
    process.stdout.write(lines.join('') + first.toString().slice('go\\n'.length));
    process.stdin.on('data', (data) => process.stdout.write(data));
  });
`;

/** Cuts the connection at random places until enough cuts were made or the work is done. */
async function cutAgainAndAgain(proxy: FaultProxy, done: AbortSignal): Promise<void> {
  const random = seededRandom(11);
  for (let cuts = 0; cuts < CUTS && !done.aborted; cuts += 1) {
    await proxy.afterBytes(Math.ceil(random() * 2 * MEAN_BYTES_BETWEEN_CUTS));
    proxy.cut();
  }
}

test(`${CUTS} cuts leave the output of an attached process whole, and its input typed once`, async () => {
  await using server = await serve();
  await using proxy = await FaultProxy.to(server.url);
  const starter = await open(server.url);
  const { processId } = await starter.start({
    argv: [process.execPath, '-e', ECHO],
    pipeStdin: true,
    lease: 'kept',
  });
  await starter.close();
  await using environment = await open(proxy.url);
  const child = await environment.attach(processId);
  const done = new AbortController();
  void cutAgainAndAgain(proxy, done.signal);
  const typed = Array.from({ length: 200 }, (_, number) => `typed ${number}\n`);
  const typing = (async () => {
    for (const line of ['go\n', ...typed]) await child.write(line);
    await child.closeStdin();
  })();
  const hash = createHash('sha256');
  for await (const event of child.events()) {
    if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes lost`);
    if (event.type === 'output' && event.stream === 'stdout') hash.update(event.bytes);
  }
  done.abort();
  await typing;
  const expected = createHash('sha256');
  for (let number = 0; number < 120_000; number += 1) expected.update(`line ${number} of the output\n`);
  for (const line of typed) expected.update(line);
  expect(hash.digest('hex')).toBe(expected.digest('hex'));
  expect(await child.wait()).toEqual({ kind: 'exited', exitCode: 0 });
});

test('a viewer that stalls delays nobody and learns exactly how much it missed', async () => {
  await using server = await serve();
  await using writer = await open(server.url);
  await using viewer = await open(server.url);
  const script = 'read line; head -c 30000000 /dev/zero';
  const child = await writer.start({ argv: ['sh', '-c', script], pipeStdin: true, lease: 'kept' });
  const watched = await viewer.attach(child.processId, { mayPause: false });
  const events = watched.events();
  const first = events.next();
  await child.write('go\n');
  let [bytes, lost, seen] = [0, 0, 0];
  for await (const event of child.events()) if (event.type === 'output') bytes += event.bytes.length;
  await first.then(({ value }) => {
    if (value?.type === 'output') seen += value.bytes.length;
  });
  for await (const event of events) {
    if (event.type === 'output') seen += event.bytes.length;
    if (event.type === 'gap') lost += event.lostBytes;
  }
  expect({ bytes, together: seen + lost }).toEqual({ bytes: 30_000_000, together: 30_000_000 });
  expect(lost).toBeGreaterThan(0);
});
