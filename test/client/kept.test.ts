import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { serve } from '../harness/serve.js';

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
