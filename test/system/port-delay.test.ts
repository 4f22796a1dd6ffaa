// Needs: bwrap
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Environment, ExecProcess } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const LISTEN = fileURLToPath(new URL('../fixtures/listen-again.mjs', import.meta.url));

const PORTS = 15;
const IDLE_MS = 2_000;

/** A test that runs beside many others may be unlucky. */
const ATTEMPTS = 5;

/** What we promise. */
const WITHIN_MS = 100;

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

interface Delays {
  /** From `listen` until we were told about the port. */
  readonly opened: number[];
  /** From `listen` until we had read what the program said about it: what the machine needs for any message. */
  readonly said: number[];
}

/** Has a program listen again and again, each time at another moment between two looks. */
async function measure(env: Environment, child: ExecProcess): Promise<Delays> {
  const lines = child.lines()[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  await using watch = await env.watchPorts();
  const openedAt = new Map<number, number>();
  const watching = (async () => {
    for await (const { type, port } of watch) if (type === 'opened') openedAt.set(port, now());
  })();
  const delays: Delays = { opened: [], said: [] };
  for (let round = 0; round < PORTS; round += 1) {
    await setTimeout(Math.random() * 50);
    await child.write('next\n');
    const [port = 0, at = 0] = String((await lines.next()).value)
      .split(' ')
      .map(Number);
    delays.said.push(now() - at / 1e6);
    await expect.poll(() => openedAt.get(port), { interval: 5, timeout: 20_000 }).toBeDefined();
    delays.opened.push((openedAt.get(port) ?? 0) - at / 1e6);
  }
  await watch.close();
  await watching;
  return delays;
}

const programs: [string, string[], { sandbox?: string }][] = [
  ['a program', [process.execPath, LISTEN], {}],
  [
    'a child that left by setsid',
    ['sh', '-c', 'exec 3<&0; setsid "$@" <&3 & wait', '-', process.execPath, LISTEN],
    {},
  ],
  ['a program in a sandbox without a network', [process.execPath, LISTEN], { sandbox: 'read-only' }],
];

describe('times', () => {
  test.each(programs)(
    'a port is reported within 100 ms of listen: %s',
    { timeout: 60_000 },
    async (...row) => {
      const [, argv, { sandbox }] = row;
      await using server = await ServerProcess.start();
      await using env = await openEnvironment(server.url);
      const policy = sandbox === undefined ? null : namedSandbox({ policy: sandbox }, { workspace: '/tmp' });
      let late = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < ATTEMPTS && late > WITHIN_MS; attempt += 1) {
        const child = await env.start({ argv, pipeStdin: true, ...(policy ? { sandbox: policy } : {}) });
        const { opened, said } = await measure(env, child);
        await child.terminate();
        // A machine that is late with everything is late with this, too.
        late = Math.min(late, median(opened) - 2 * median(said));
      }
      expect(late).toBeLessThan(WITHIN_MS);
    },
  );
});

/** Beside other tests, what others open costs as well: `npm run test:timings` runs it alone. */
describe.skipIf(!process.env.EXECWIRE_TIMINGS)('alone', () => {
  test('a watch costs next to nothing while nothing happens', { timeout: 60_000 }, async () => {
    await using server = await ServerProcess.start();
    await using env = await openEnvironment(server.url);
    await using watch = await env.watchPorts();
    let share = 1;
    // Others on this machine may open ports meanwhile.
    for (let attempt = 0; attempt < ATTEMPTS && share > 0.05; attempt += 1) {
      const begun = cpuTicks(server.pid);
      await setTimeout(IDLE_MS);
      // A tick is 10 ms.
      share = Math.min(share, ((cpuTicks(server.pid) - begun) * 10) / IDLE_MS);
    }
    expect(share).toBeLessThan(0.05);
    await watch.close();
  });
});

function cpuTicks(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = rest.split(' ').slice(11, 13).map(Number);
  return user + system;
}
