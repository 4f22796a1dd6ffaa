// Needs: setpriv
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { asIdentity } from '../harness/confined-server.js';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { identities } from '../host/sandbox/harness.js';
import { limitMs, tally, tries } from './tally.js';

const KEPT = { lease: 'kept', retain: 'disk', onSlowReader: 'spool' };
/** Lines that tell their number. */
const FLOOD = `awk 'BEGIN { for (i = 0; ; i++) printf "%011d\\n", i }'`;
const PROGRAMS = 3;
const ROUNDS = tries(1);

async function connect(url: string): Promise<WireClient> {
  const { client } = await dialWire(url);
  await client.handshake();
  return client;
}

interface Piece {
  readonly seq: number;
  readonly chunk: string;
  readonly lostBytes?: number;
}

/** Everything that is left of a process, and what the server says at its end. */
async function stored(client: WireClient, processId: string): Promise<{ text: string; end: object }> {
  let [text, afterSeq] = ['', 0];
  for (;;) {
    const { chunks, ...end } = await client.call('process/read', { processId, afterSeq });
    const pieces = chunks as Piece[];
    if (pieces.length === 0) return { text, end };
    for (const { chunk, lostBytes } of pieces) {
      expect(lostBytes).toBeUndefined();
      text += Buffer.from(chunk, 'base64').toString('latin1');
    }
    afterSeq = pieces.at(-1)?.seq ?? 0;
  }
}

test('a killed server takes its kept processes along; their output is readable, and nothing is invented', {
  timeout: limitMs(60_000),
}, async () => {
  using folder = new TestFolder();
  const args = ['--spool', folder.file('spool')];
  let wrong = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const mark = `mark-kept-spool-${process.pid}-${Date.now()}-${round}`;
    const ids = Array.from({ length: PROGRAMS }, (_, number) => `job-${round}-${number}`);
    const server = await ServerProcess.start({ args });
    const client = await connect(server.url);
    const background = `setsid sh -c 'sleep 1000; :' ${mark} & sh -c '(sleep 1000; :) &' ${mark}; `;
    for (const processId of ids)
      await client.call('process/start', { ...startParams(processId, sh(background + FLOOD)), ...KEPT });
    // More than is held in memory, so that some of it must be on disk.
    await Promise.all(ids.map((id) => client.until(() => client.output(id).length > 600_000 || undefined)));
    for (const processId of ids.slice(1)) await client.call('process/detach', { processId });
    expect(pidsWithArgument(mark)).not.toEqual([]);
    await server.stop('SIGKILL');
    await gone(mark);
    await using next = await ServerProcess.start({ args });
    const heir = await connect(next.url);
    expect(await heir.call('process/list', { scope: 'server' })).toEqual({ processes: [] });
    for (const processId of ids) {
      expect((await heir.ask('process/attach', { processId })).error?.data?.code).toBe('processNotFound');
      const { text, end } = await stored(heir, processId);
      const lines = text.split('\n');
      const expected = Array.from(lines.slice(0, -1), (_, number) => String(number).padStart(11, '0'));
      if (lines.slice(0, -1).join() !== expected.join() || lines.length < 2) wrong += 1;
      expect(end).toMatchObject({ exited: false, exitCode: null, closed: false });
      expect(end).toMatchObject({ failure: expect.stringContaining(`byte ${text.length}`) });
    }
  }
  tally('killed servers with kept output', { tries: ROUNDS * PROGRAMS, successes: wrong });
  expect(wrong).toBe(0);
});

const stranger = identities.find(({ uid }) => uid !== undefined);

// Only root can become somebody else.
test.runIf(stranger)('another user reads no kept output, lists nothing and attaches to nothing', async () => {
  using folder = new TestFolder();
  // Whoever gets this far is stopped by what the server itself has made.
  chmodSync(folder.path, 0o755);
  const [spool, socket] = [folder.file('spool'), folder.file('socket')];
  await using server = await ServerProcess.start({
    args: ['--spool', spool, '--listen', `unix://${socket}`],
  });
  const client = await connect(server.url);
  const script = 'echo private words; head -c 600000 /dev/zero; sleep 1000';
  await client.call('process/start', { ...startParams('job', sh(script)), ...KEPT });
  await client.until(() => client.output('job').length > 600_000 || undefined);
  await expect
    .poll(() => execFileSync('grep', ['-rlc', 'private words', spool]).length, { timeout: 5_000 })
    .toBeGreaterThan(0);
  const as = (...argv: string[]) => {
    const [program = '', ...rest] = [...asIdentity(stranger ?? { name: '' }), ...argv];
    const { status, stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8', timeout: 20_000 });
    return { status, said: stdout + stderr };
  };
  const attempts = [
    as('ls', spool),
    as('grep', '-r', 'private words', spool),
    as('find', spool, '-type', 'f'),
    as('touch', `${spool}/planted`),
    as(process.execPath, bin, 'ps', '-e', `unix://${socket}`),
    as(process.execPath, bin, 'logs', '-e', `unix://${socket}`, 'job'),
    as(process.execPath, bin, 'attach', '-e', `unix://${socket}`, 'job'),
  ];
  const successes = attempts.filter(({ status, said }) => status === 0 || said.includes('private words'));
  tally('other users and kept output', { tries: attempts.length, successes: successes.length });
  expect(successes).toEqual([]);
  // The owner can.
  const logs = execFileSync(process.execPath, [bin, 'logs', '-e', `unix://${socket}`, 'job']);
  expect(logs.toString()).toContain('private words');
});
