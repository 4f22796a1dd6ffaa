import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { Environment, ProcessSpec } from '../../src/contract/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { sh } from '../../testkit/wire-client.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { linesContract } from '../contract/lines.contract.js';
import { type OpenEnvironment, processContract } from '../contract/process.contract.js';
import { runContract } from '../contract/run.contract.js';
import { historyContract } from '../contract/history.contract.js';
import { spoolContract } from '../contract/spool.contract.js';
import { TestFolder } from '../harness/processes.js';

const folder = new TestFolder();
let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--session-ttl', '1', '--spool', folder.file('served')] });
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

/** The same environment, whose processes all spool. */
function spooling(open: OpenEnvironment, use: Pick<ProcessSpec, 'retain' | 'onSlowReader'>): OpenEnvironment {
  return async () => {
    const environment = await open();
    const start = environment.start.bind(environment);
    environment.start = (spec) => start({ ...use, ...spec });
    return environment;
  };
}

const local: OpenEnvironment = async () =>
  new LocalEnvironment({ spool: { directory: folder.file('local') } });
const ws = (binaryFrames: boolean): OpenEnvironment => {
  return () =>
    RemoteEnvironment.connect({
      id: 'ws',
      dial: () => dialWebSocket(server.url),
      resume: true,
      binaryFrames,
    });
};

for (const [name, open] of [
  ['local', local],
  ['ws', ws(true)],
  ['ws without binary frames', ws(false)],
] as const) {
  spoolContract(name, open);
  historyContract(name, open);
}
for (const [name, open] of [
  ['local on disk', spooling(local, { retain: 'disk' })],
  ['ws on disk', spooling(ws(true), { retain: 'disk' })],
] as const) {
  processContract(name, open);
  runContract(name, open);
  linesContract(name, open);
}

describe('without a spool', () => {
  async function refusal(environment: Environment): Promise<string> {
    const error: unknown = await environment
      .start({ argv: sh('true'), retain: 'disk' })
      .then(() => null)
      .catch((cause: unknown) => cause);
    return (error as { code?: string }).code ?? 'none';
  }

  test('here, a start that wants one is refused', async () => {
    await using environment = new LocalEnvironment();
    expect(await refusal(environment)).toBe('spoolUnavailable');
  });

  test('on a server that has none, the client says so', async () => {
    await using off = await ServerProcess.start({ args: ['--spool', 'off'] });
    await using environment = await RemoteEnvironment.connect({
      id: 'x',
      dial: () => dialWebSocket(off.url),
      resume: false,
    });
    expect(await refusal(environment)).toBe('unsupported');
  });
});

describe('a reader that is slower than the bounds allow', () => {
  test.each([true, false])(
    'learns how much it missed (binary frames: %s)',
    { timeout: 60_000 },
    async (binaryFrames) => {
      const args = ['--spool', folder.file(`small-${binaryFrames}`), '--spool-bytes', '1000000'];
      await using small = await ServerProcess.start({ args });
      const dial = () => dialWebSocket(small.url);
      await using environment = await RemoteEnvironment.connect({
        id: 'x',
        dial,
        resume: true,
        binaryFrames,
      });
      const total = 100_000_000;
      const process = await environment.start({
        argv: sh(`head -c ${total} /dev/zero; echo done > '${folder.file(`done-${binaryFrames}`)}'`),
        onSlowReader: 'spool',
      });
      const seen = { bytes: 0, lost: 0, last: '' };
      for await (const event of process.events()) {
        seen.last = event.type;
        if (event.type === 'gap') seen.lost += event.lostBytes;
        if (event.type !== 'output') continue;
        if (seen.bytes === 0) await folder.appears(`done-${binaryFrames}`);
        seen.bytes += event.bytes.length;
      }
      expect(seen.bytes + seen.lost).toBe(total);
      expect(seen.lost).toBeGreaterThan(0);
      expect(seen.last).toBe('closed');
    },
  );
});
