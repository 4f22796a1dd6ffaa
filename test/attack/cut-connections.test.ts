import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess } from '../../src/contract/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { seededRandom } from '../harness/random.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { limitMs, tally, tries } from './tally.js';

const CUTS = tries(30);
const LIMIT_MS = limitMs(90_000);
/** On average this much comes through between two cuts: some hit the middle of a message, some the handshake. */
const MEAN_BYTES = 60_000;

const digest = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

/** Reads all output; a gap is a failure. */
async function read(child: ExecProcess): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const event of child.events()) {
    if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes were let go`);
    if (event.type === 'output') parts.push(event.bytes);
  }
  return Buffer.concat(parts);
}

/** Cuts at random bytes of the conversation until there were enough cuts. */
async function cutAtRandom(proxy: FaultProxy, seed: number, cuts: { count: number }): Promise<void> {
  const random = seededRandom(seed);
  while (cuts.count < CUTS) {
    // Now and then a few bytes after the last cut, in the middle of coming back.
    const mean = random() < 0.3 ? 200 : MEAN_BYTES;
    await proxy.afterBytes(Math.ceil(random() * 2 * mean));
    proxy.cut();
    cuts.count += 1;
  }
}

test.each([
  ['binary frames', true],
  ['text frames', false],
] as const)(
  `${CUTS} cuts at random bytes change nothing that is said or typed: %s`,
  { timeout: LIMIT_MS },
  async (name, binaryFrames) => {
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    await using proxy = await FaultProxy.to(server.url);
    await using environment = await RemoteEnvironment.connect({
      id: 'cut',
      dial: () => dialWebSocket(proxy.url),
      resume: true,
      binaryFrames,
    });
    const cuts = { count: 0 };
    const cutting = cutAtRandom(proxy, binaryFrames ? 3 : 5, cuts);
    let rounds = 0;
    const wrong: unknown[] = [];
    for (; cuts.count < CUTS; rounds += 1) {
      const lines = 20_000;
      const printer = await environment.start({
        argv: ['seq', '-f', `round ${rounds} line %.0f`, String(lines)],
      });
      const echo = await environment.start({ argv: ['/bin/cat'], pipeStdin: true });
      const [printed, echoed, typed] = await Promise.all([read(printer), read(echo), type(echo, rounds)]);
      const expected = Array.from({ length: lines }, (_, at) => `round ${rounds} line ${at + 1}\n`).join('');
      if (digest(printed) !== digest(expected)) wrong.push({ rounds, printed: printed.length });
      if (echoed.toString() !== typed) wrong.push({ rounds, echoed: echoed.toString(), typed });
      const ends = await Promise.all([printer.wait(), echo.wait()]);
      if (ends.some((end) => end.kind !== 'exited' || end.exitCode !== 0)) wrong.push({ rounds, ends });
    }
    // The last cut may have been counted while nothing more was said.
    await cutting;
    tally(`cuts, ${name}`, { tries: cuts.count, successes: wrong.length });
    expect(wrong).toEqual([]);
    expect(cuts.count).toBeGreaterThanOrEqual(CUTS);
  },
);

/** Types numbered lines, many of them before the first is answered. Resolves to all of them. */
async function type(echo: ExecProcess, round: number): Promise<string> {
  const lines = Array.from({ length: 40 }, (_, at) => `round ${round} typed ${at}\n`);
  await Promise.all(lines.map((line) => echo.write(line)));
  await echo.closeStdin();
  return lines.join('');
}
