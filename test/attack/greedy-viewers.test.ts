import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { computedUntil } from '../harness/processor-time.js';

/**
 * What the server may compute before it has an answer for another client, five times out of six. Its own time on the
 * processor, not ours on the clock: how busy the rest of the machine is makes no difference.
 */
const PATIENCE_MS = 50;
const VIEWERS = 24;
const LOOKS = 6;
const OUTPUT_BYTES = 3_000_000;

const folder = new TestFolder();
let server: ServerProcess;
let other: WireClient;

beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--log-level', 'silent', '--spool', folder.file('spool')] });
  ({ client: other } = await dialWire(server.url));
  await other.handshake();
  const program = sh(`head -c ${OUTPUT_BYTES} /dev/urandom | base64`);
  const start = startParams('p', program, { tty: true, lease: 'kept', retain: 'disk' });
  await other.call('process/start', start);
  await other.call('process/detach', { processId: 'p' });
  await other.call('process/wait', { processId: 'p' });
});

afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

test.each([
  ['process/read', { processId: 'p', afterSeq: 0 }],
  ['process/attach', { processId: 'p', afterSeq: 0, keyboard: 'view' }],
])('viewers that call %s all the time hold nobody up', { timeout: 90_000 }, async (method, params) => {
  const script = fileURLToPath(new URL('greedy-viewers.mjs', import.meta.url));
  const viewers = spawn(process.execPath, [
    script,
    server.url,
    String(VIEWERS),
    method,
    JSON.stringify(params),
  ]);
  try {
    await once(viewers.stdout, 'data');
    const waits: number[] = [];
    for (let look = 0; look < LOOKS; look += 1)
      waits.push(await computedUntil(server.pid, () => other.call('environment/status')));
    waits.sort((left, right) => left - right);
    expect(waits[LOOKS - 2]).toBeLessThan(PATIENCE_MS);
  } finally {
    viewers.kill('SIGKILL');
    await once(viewers, 'exit');
  }
});
