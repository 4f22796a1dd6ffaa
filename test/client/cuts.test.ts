import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { seededRandom } from '../harness/random.js';
import { serve } from '../harness/serve.js';

const CUTS = 50;
/** On average this much comes through between two cuts. */
const MEAN_BYTES_BETWEEN_CUTS = 400_000;

const OUTPUT_BYTES = 20_000_000;

/** Prints numbered lines: no two parts of the output are alike. */
const PRINTER = `
  const lines = [];
  for (let n = 0, size = 0; size < ${OUTPUT_BYTES}; n += 1) {
    const line = 'line ' + n + ' of the output\\n';
    lines.push(line);
    size += line.length;
  }
  process.stdout.write(lines.join('').slice(0, ${OUTPUT_BYTES}));
`;

function expectedOutput(): string {
  const hash = createHash('sha256');
  let size = 0;
  for (let n = 0; size < OUTPUT_BYTES; n += 1) {
    const line = `line ${n} of the output\n`.slice(0, OUTPUT_BYTES - size);
    hash.update(line);
    size += line.length;
  }
  return hash.digest('hex');
}

async function open(proxy: FaultProxy, binaryFrames: boolean): Promise<RemoteEnvironment> {
  const dial = () => dialWebSocket(proxy.url);
  return await RemoteEnvironment.connect({ id: 'cut', dial, resume: true, binaryFrames });
}

const frames = [
  ['binary frames', true],
  ['text frames', false],
] as const;

/** Cuts once this many more bytes went from the server to its client. Resolves then. */
async function cutAfter(proxy: FaultProxy, bytes: number): Promise<void> {
  await proxy.afterBytes(bytes);
  proxy.cut();
}

test.each(frames)(`${CUTS} cuts in the middle of the output leave it whole: %s`, async (_name, binary) => {
  await using server = await serve();
  await using proxy = await FaultProxy.to(server.url);
  await using environment = await open(proxy, binary);
  const random = seededRandom(7);
  let cuts = 0;
  const cutAgainAndAgain = async (): Promise<void> => {
    for (; cuts < CUTS; cuts += 1) {
      await cutAfter(proxy, Math.ceil(random() * 2 * MEAN_BYTES_BETWEEN_CUTS));
    }
  };
  const child = await environment.start({ argv: [process.execPath, '-e', PRINTER] });
  void cutAgainAndAgain();
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const event of child.events()) {
    if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes lost`);
    // Node itself may have something to say on stderr.
    if (event.type !== 'output' || event.stream !== 'stdout') continue;
    hash.update(event.bytes);
    bytes += event.bytes.length;
  }
  expect({ bytes, digest: hash.digest('hex'), end: await child.wait(), cuts }).toEqual({
    bytes: OUTPUT_BYTES,
    digest: expectedOutput(),
    end: { kind: 'exited', exitCode: 0 },
    cuts: CUTS,
  });
});

test.each(frames)('writes are typed once, in order, across cuts: %s', async (_name, binary) => {
  await using server = await serve();
  await using proxy = await FaultProxy.to(server.url);
  await using environment = await open(proxy, binary);
  const random = seededRandom(11);
  let cuts = 0;
  const cat = await environment.start({ argv: ['/bin/cat'], pipeStdin: true });
  const text = cat.text();
  let written = '';
  for (let round = 0; round < 20; round += 1) {
    const cut = cutAfter(proxy, Math.ceil(random() * 300)).then(() => {
      cuts += 1;
    });
    // Writes of one round are partly answered, partly under way and partly waiting when the cut comes.
    const writes: Promise<string>[] = [];
    for (let n = 0; n < 10; n += 1) {
      const piece = `round ${round} piece ${n}\n`;
      written += piece;
      writes.push(cat.write(piece));
      if (n % 3 === 0) await Promise.race([writes.at(-1), cut]);
    }
    await Promise.all(writes);
  }
  await cat.closeStdin();
  expect(await text).toBe(written);
  expect(cuts).toBeGreaterThan(15);
});
