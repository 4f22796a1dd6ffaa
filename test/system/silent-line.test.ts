import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

/** `EXECWIRE_SILENCE_MS=60000` for a line as it breaks in life; in between the client then gives it up and comes back. */
const SILENCE_MS = Number(process.env['EXECWIRE_SILENCE_MS'] ?? 1_500);
const isLong = SILENCE_MS >= 10_000;
const LIMIT_MS = 60_000 + 2 * SILENCE_MS;
/** Several of these fit into the silence, so that it is noticed. */
const TICK_MS = 100;
const LINES = 400;

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(async () => {
  await server.stop();
});

/** Says that it runs, then numbers, slowly enough to be interrupted. */
function numbers(folder: TestFolder): string[] {
  const script = `echo ran >> ${folder.file('ran')}; i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo $i; sleep 0.005; done; exit 7`;
  return ['sh', '-c', script];
}

const EXPECTED = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('');

/** Breaks the line once the program is under way. */
async function inTheMiddle(proxy: FaultProxy, how: 'freeze' | 'swallow', afterBytes: number): Promise<void> {
  await proxy.afterBytes(afterBytes);
  proxy[how]();
  if (how === 'swallow') return;
  await delay(SILENCE_MS);
  proxy.thaw();
}

describe.each(['freeze', 'swallow'] as const)('a line that goes silent: %s', (how) => {
  test(
    'a program goes on, is not run twice, and all it says arrives',
    async () => {
      using folder = new TestFolder();
      await using proxy = await FaultProxy.to(server.url);
      await using environment = await RemoteEnvironment.connect({
        id: 'far',
        dial: () => dialWebSocket(proxy.url, { livenessTickMs: TICK_MS }),
        resume: true,
      });
      let offline = 0;
      environment.watchConnection((connected) => {
        if (!connected) offline += 1;
      });
      const broken = inTheMiddle(proxy, how, 8_000);
      const result = await environment.run(numbers(folder));
      await broken;
      expect(result).toMatchObject({ stdout: EXPECTED, exitCode: 7 });
      expect(readFileSync(folder.file('ran'), 'utf8')).toBe('ran\n');
      expect(offline).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  test(
    'execwire run prints everything and leaves with the right code',
    async () => {
      using folder = new TestFolder();
      await using proxy = await FaultProxy.to(server.url);
      const broken = inTheMiddle(proxy, how, 8_000);
      const { code, stdout, stderr } = await execwire(['run', '-e', proxy.url, '--', ...numbers(folder)]);
      await broken;
      expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
      expect(stdout).toBe(EXPECTED);
      expect(readFileSync(folder.file('ran'), 'utf8')).toBe('ran\n');
    },
    LIMIT_MS,
  );

  // Ten seconds until the command itself notices are enough once.
  test.skipIf(how === 'swallow' && !isLong).each(['down', 'up'] as const)(
    'execwire cp copies the same bytes, %s',
    async (direction) => {
      using folder = new TestFolder();
      const content = Buffer.alloc(
        8 * 1024 * 1024,
        'some bytes that are easy to tell apart when they are misplaced',
      );
      writeFileSync(folder.file('here'), content);
      await using proxy = await FaultProxy.to(server.url);
      const broken = inTheMiddle(proxy, how, direction === 'down' ? 2_000_000 : 1_200);
      const there = `${proxy.url}:${folder.file(direction === 'down' ? 'here' : 'there')}`;
      const { code, stderr } = await execwire(
        direction === 'down' ? ['cp', there, folder.file('there')] : ['cp', folder.file('here'), there],
      );
      await broken;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(sha(folder.file('there'))).toBe(createHash('sha256').update(content).digest('hex'));
    },
    LIMIT_MS,
  );
});

function sha(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
