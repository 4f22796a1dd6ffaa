import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { readOnly } from '../../testkit/sandboxes.mjs';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';

const KEPT = { lease: 'kept', pipeStdin: true };

interface Connected {
  readonly client: WireClient;
  readonly sessionId: string;
  readonly drop: () => void;
}

async function connect(url: string | undefined): Promise<Connected> {
  const { client, socket } = await dialWire(String(url));
  return { client, sessionId: await client.handshake(), drop: () => socket.terminate() };
}

/** A login shell whose profile has to be known before the program can start. */
function login(folder: TestFolder, processId: string, script: string, more: object = {}): object {
  const shellSnapshot = { scopeId: 'scope', shell: { name: 'bash', path: '/bin/bash' } };
  const env = { PATH: '/usr/bin:/bin', HOME: folder.path };
  return startParams(processId, ['/bin/bash', '-lc', script], { env, shellSnapshot, ...more });
}

test('a server with more running ones than it keeps ended ones closes', { timeout: 60_000 }, async () => {
  const mark = `mark-many-${process.pid}-${Date.now()}`;
  {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    const argv = ['sh', '-c', 'read line; :', mark];
    const starts = Array.from({ length: 300 }, (_, number) =>
      client.ask('process/start', startParams(`p${number}`, argv, KEPT)),
    );
    await Promise.all(starts);
    expect(pidsWithArgument(mark)).toHaveLength(300);
  }
  await gone(mark);
});

describe('a start that takes a while', () => {
  test.each([
    ['whose session expires meanwhile', ({ drop }: Connected) => drop()],
    [
      'whose session ends meanwhile',
      ({ client }: Connected) => client.send('{"method":"session/end","params":{}}'),
    ],
  ])('%s leaves a process that nobody is attached to', async (_, leave) => {
    using folder = new TestFolder();
    execFileSync('mkfifo', [folder.file('gate')]);
    // The first shell waits until its session ends it, and the program comes after that.
    const profile = '[ -e ~/waits ] || { echo waits > ~/waits; read line < ~/gate; }\n';
    writeFileSync(folder.file('.bash_profile'), profile);
    await using server = await serve({ sessionTtlMs: 1 });
    const starter = await connect(server.urls[0]);
    const params = login(folder, 'job', 'head -c 4000000 /dev/zero; sleep 1000', { lease: 50 });
    void starter.client.ask('process/start', params).catch(() => undefined);
    await folder.appears('waits');
    const other = await connect(server.urls[0]);
    leave(starter);
    await sessionGone(server.urls[0], starter.sessionId);
    for (;;) {
      const answer = await other.client.ask('process/wait', { processId: 'job' });
      if (answer.error?.data?.code === 'processNotFound') continue;
      expect(answer.result).toMatchObject({ signal: 'SIGKILL' });
      break;
    }
  });
});

describe.each([{ name: 'bare' }, { name: 'confined', sandbox: readOnly() }])('$name', ({ sandbox }) => {
  test('a start that fails leaves the ended process of the same id readable', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    await client.call('process/start', startParams('p', sh('echo precious'), KEPT));
    await client.call('process/wait', { processId: 'p' });
    await client.call('process/detach', { processId: 'p' });
    const again = { ...KEPT, sandbox };
    const { error } = await client.ask('process/start', startParams('p', ['/nowhere/at/all'], again));
    expect(error).toBeDefined();
    const { client: other } = await connect(server.urls[0]);
    await other.call('process/attach', { processId: 'p' });
    await other.closedEvents('p');
    expect(other.output('p').toString()).toBe('precious\n');
    await other.call('process/detach', { processId: 'p' });
    await other.call('process/start', startParams('p', sh('exit 5'), again));
    expect(await other.call('process/wait', { processId: 'p' })).toMatchObject({ exitCode: 5 });
  });

  test('a session cannot give the id of what it is attached to to another process', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    await client.call('process/start', startParams('p', ['cat'], KEPT));
    for (const more of [{ sandbox }, { ...KEPT, sandbox }]) {
      const { error } = await client.ask('process/start', startParams('p', ['true'], more));
      expect(error?.data?.code).toBe('processIdInUse');
    }
  });
});

test('refused starts leave no descriptor behind', async () => {
  using folder = new TestFolder();
  await using server = await serve();
  const { client } = await connect(server.urls[0]);
  const { client: other } = await connect(server.urls[0]);
  await client.call('process/start', startParams('taken', ['cat'], KEPT));
  for (const each of [client, other]) {
    await each.call('process/start', login(folder, 'first', 'true'));
    await each.closedEvents('first');
  }
  const before = descriptors();
  const refused = Array.from({ length: 50 }, () => [
    client.ask('process/start', login(folder, 'taken', 'true', KEPT)),
    client.ask('process/start', login(folder, 'taken', 'true')),
    other.ask('process/start', login(folder, 'taken', 'true', KEPT)),
  ]).flat();
  for (const { error } of await Promise.all(refused)) expect(error?.data?.code).toBe('processIdInUse');
  expect(descriptors()).toBeLessThan(before + 20);
});

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Resolves when nobody can come back to the session. */
async function sessionGone(url: string | undefined, resumeSessionId: string): Promise<void> {
  for (;;) {
    const { client, socket } = await dialWire(String(url));
    const { error } = await client.ask('initialize', { clientName: 'again', resumeSessionId });
    socket.terminate();
    if (error?.data?.code === 'sessionNotFound') return;
  }
}
