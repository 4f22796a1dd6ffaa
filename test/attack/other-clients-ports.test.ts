// Needs: bwrap
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { all } from '../contract/port-streams.contract.js';

const LISTEN = fileURLToPath(new URL('../fixtures/listen.mjs', import.meta.url));

const server = new ExecServer();
afterAll(() => server.close());

async function connectAs(principal: string): Promise<RemoteEnvironment> {
  const dial = async () => {
    const [near, far] = createMemoryChannels();
    void server.accept(far, { principal });
    return near;
  };
  return await RemoteEnvironment.connect({ id: principal, dial, resume: true });
}

/** A program that listens in a sandbox without a network. */
async function listenInside(env: RemoteEnvironment, more: { lease?: 'kept' } = {}) {
  const sandbox = namedSandbox({ policy: 'read-only' }, { workspace: '/tmp' });
  if (!sandbox) throw new Error('there is no such policy');
  const child = await env.start({ argv: [process.execPath, LISTEN, 'hello'], sandbox, ...more });
  for await (const line of child.lines()) return { child, port: Number(line) };
  throw new Error('it did not say where it listens');
}

test('a kept program in a sandbox does not exist for other clients', { timeout: 60_000 }, async () => {
  await using owner = await connectAs('owner');
  await using other = await connectAs('other');
  const { child, port } = await listenInside(owner, { lease: 'kept' });
  const { processId } = child;
  try {
    expect(await owner.ports()).toMatchObject([{ port, processId, sandboxed: true }]);
    const listed = await other.ports({ scope: 'machine' });
    expect(listed.filter((each) => each.port === port && each.sandboxed)).toEqual([]);
    await using watch = await other.watchPorts({ scope: 'machine' });
    // It begins with everything that is open, so it would be among the first of them.
    const events = watch[Symbol.asyncIterator]();
    for (const _known of listed) expect((await events.next()).value).not.toMatchObject({ processId });
    for (const options of [{}, { processId }, { ownOnly: true }, { processId, ownOnly: true }])
      await expect(other.connect(port, options)).rejects.toMatchObject({ code: 'portRefused' });
    await using again = await connectAs('owner');
    expect((await all(await again.connect(port))).toString()).toBe('hello');
  } finally {
    await child.terminate();
    await owner.waitFor(processId);
  }
});

test('an id of one’s own does not open what belongs to others', { timeout: 60_000 }, async () => {
  await using owner = await connectAs('owner');
  await using other = await connectAs('other');
  const { child, port } = await listenInside(owner);
  // The same id in another session is another process, which listens nowhere.
  await using impostor = await other.start({ processId: child.processId, argv: ['sleep', '1000'] });
  await expect(other.connect(port, { processId: impostor.processId, ownOnly: true })).rejects.toMatchObject({
    code: 'portRefused',
  });
  expect(await other.ports()).toEqual([]);
});
