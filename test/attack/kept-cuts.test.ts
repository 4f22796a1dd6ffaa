import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { seededRandom } from '../harness/random.js';
import { serve } from '../harness/serve.js';
import { limitMs, tally, tries } from './tally.js';

const CUTS = tries(50);
const LIMIT_MS = limitMs(90_000);
const MEAN_BYTES_BETWEEN_CUTS = 100_000;
const LINES = 120_000;
const TYPED = Array.from({ length: 200 }, (_, number) => `typed ${number}\n`);

/** Told to go, prints more than a log retains, and then what it is told. */
const ECHO = `
  process.stdin.once('data', (first) => {
    const lines = [];
    for (let n = 0; n < ${LINES}; n += 1) lines.push('line ' + n + ' of the output\\n');
    process.stdout.write(lines.join('') + first.toString().slice('go\\n'.length));
    process.stdin.on('data', (data) => process.stdout.write(data));
  });
`;

function expectedDigest(): string {
  const hash = createHash('sha256');
  for (let number = 0; number < LINES; number += 1) hash.update(`line ${number} of the output\n`);
  for (const line of TYPED) hash.update(line);
  return hash.digest('hex');
}

async function open(url: string): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'kept', dial: () => dialWebSocket(url), resume: true });
}

/** One program, started by a client that leaves, and used by another one. Returns the digest of its output. */
async function round(serverUrl: string, environment: RemoteEnvironment): Promise<string> {
  const starter = await open(serverUrl);
  const argv = [process.execPath, '-e', ECHO];
  const { processId } = await starter.start({ argv, pipeStdin: true, lease: 'kept' });
  await starter.close();
  const child = await environment.attach(processId);
  const typing = (async () => {
    for (const line of ['go\n', ...TYPED]) await child.write(line);
    await child.closeStdin();
  })();
  const hash = createHash('sha256');
  for await (const event of child.events()) {
    if (event.type === 'gap') return `${event.lostBytes} bytes lost`;
    if (event.type === 'output' && event.stream === 'stdout') hash.update(event.bytes);
  }
  await typing;
  const end = await environment.waitFor(processId);
  return end.kind === 'exited' && end.exitCode === 0 ? hash.digest('hex') : JSON.stringify(end);
}

test(`${CUTS} cuts leave the output of an attached process whole, and its input typed once`, {
  timeout: LIMIT_MS,
}, async () => {
  await using server = await serve();
  await using proxy = await FaultProxy.to(server.url);
  await using environment = await open(proxy.url);
  const random = seededRandom(11);
  const done = { cuts: 0 };
  const cutting = (async () => {
    for (; done.cuts < CUTS; done.cuts += 1) {
      await proxy.afterBytes(Math.ceil(random() * 2 * MEAN_BYTES_BETWEEN_CUTS));
      proxy.cut();
    }
  })();
  const wrong: string[] = [];
  while (done.cuts < CUTS) {
    const digest = await round(server.url, environment);
    if (digest !== expectedDigest()) wrong.push(digest);
  }
  await cutting;
  tally('cuts of a client attached to a kept process', { tries: done.cuts, successes: wrong.length });
  expect(wrong).toEqual([]);
});
