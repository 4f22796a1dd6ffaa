import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { CutProxy } from '../harness/cut-proxy.js';
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

async function open(proxy: CutProxy): Promise<RemoteEnvironment> {
  const url = `ws://127.0.0.1:${proxy.port}`;
  return await RemoteEnvironment.connect({ id: 'cut', dial: () => dialWebSocket(url), resume: true });
}

test(`${CUTS} cuts in the middle of the output leave it whole`, async () => {
  await using server = await serve();
  const proxy = await CutProxy.open({ host: '127.0.0.1', port: server.port });
  const environment = await open(proxy);
  try {
    const random = seededRandom(7);
    const cutAgain = (): void => {
      if (proxy.cuts >= CUTS) return;
      proxy.cutAfter(Math.ceil(random() * 2 * MEAN_BYTES_BETWEEN_CUTS), cutAgain);
    };
    const child = await environment.start({ argv: [process.execPath, '-e', PRINTER] });
    cutAgain();
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const event of child.events()) {
      if (event.type === 'gap') throw new Error(`${event.lostBytes} bytes lost`);
      if (event.type !== 'output') continue;
      hash.update(event.bytes);
      bytes += event.bytes.length;
    }
    expect({ bytes, digest: hash.digest('hex'), end: await child.wait(), cuts: proxy.cuts }).toEqual({
      bytes: OUTPUT_BYTES,
      digest: expectedOutput(),
      end: { kind: 'exited', exitCode: 0 },
      cuts: CUTS,
    });
  } finally {
    await environment.close();
    await proxy.close();
  }
});

test('writes are typed once, in order, across cuts', async () => {
  await using server = await serve();
  const proxy = await CutProxy.open({ host: '127.0.0.1', port: server.port });
  const environment = await open(proxy);
  try {
    const random = seededRandom(11);
    const cat = await environment.start({ argv: ['/bin/cat'], pipeStdin: true });
    const text = cat.text();
    let written = '';
    for (let round = 0; round < 20; round += 1) {
      const cutAfterBytes = Math.ceil(random() * 300);
      const cut = new Promise<void>((resolve) => proxy.cutAfter(cutAfterBytes, resolve));
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
    expect(proxy.cuts).toBeGreaterThan(15);
  } finally {
    await environment.close();
    await proxy.close();
  }
});
