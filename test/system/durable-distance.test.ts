import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { DurableServer } from '../harness/durable-server.js';

const SLOW = { timeout: 90_000 };
const KILLS = 5;
const MIB = 1024 * 1024;

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Kills the server each time this much more has reached the client, so that something is always on its way. */
async function killWhile(server: DurableServer, proxy: FaultProxy, apartBytes: number): Promise<number> {
  let kills = 0;
  for (; kills < KILLS; kills += 1) {
    await proxy.afterBytes(apartBytes);
    server.kill();
  }
  return kills;
}

test('a flood from far away arrives whole although the server is killed under it', SLOW, async () => {
  await using server = await DurableServer.start();
  await using proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 80 } });
  await using env = await openEnvironment(proxy.url);
  const source = randomBytes(MIB);
  writeFileSync(server.folder.file('source'), source);
  const copies = 24;
  const script = `for i in $(seq ${copies}); do cat ${server.folder.file('source')}; done; exit 5`;
  const program = await env.start({ argv: ['sh', '-c', script], cwd: '/' });
  const killed = killWhile(server, proxy, 2 * MIB);
  const arrived = createHash('sha256');
  let bytes = 0;
  for await (const event of program.events()) {
    if (event.type !== 'output') continue;
    arrived.update(event.bytes);
    bytes += event.bytes.length;
  }
  expect(await killed).toBe(KILLS);
  expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
  expect(bytes).toBe(copies * MIB);
  const whole = createHash('sha256');
  for (let copy = 0; copy < copies; copy += 1) whole.update(source);
  expect(arrived.digest('hex')).toBe(whole.digest('hex'));
});

test('what is typed from far away is read once, in order, although the server is killed', SLOW, async () => {
  await using server = await DurableServer.start();
  await using proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 80 } });
  await using env = await openEnvironment(proxy.url);
  const program = await env.start({
    argv: ['cat'],
    cwd: '/',
    pipeStdin: true,
  });
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
  const text = program.text();
  for (const [index, line] of lines.entries()) {
    // Not awaited: several are always on their way when the server dies.
    void program.write(line).catch(() => undefined);
    if (index % 40 === 20) {
      await proxy.afterBytes(1);
      server.kill();
    }
  }
  await program.closeStdin();
  expect(await text).toBe(lines.join(''));
  expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 0 });
});

test('a file written from far away is whole or not there when the server is killed', SLOW, async () => {
  await using server = await DurableServer.start();
  await using proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 80 } });
  await using env = await openEnvironment(proxy.url);
  const path = server.folder.file('written');

  let outcomes = 0;
  for (let round = 0; round < KILLS; round += 1) {
    const old = randomBytes(4 * MIB);
    writeFileSync(path, old);
    const fresh = randomBytes(8 * MIB);
    const written = env.files.writeFile(path, fresh).then(
      () => true,
      () => false,
    );
    server.kill();
    const said = await written;
    const found = hash(readFileSync(path));
    // A failure may come after the fact; a success may not come before it.
    if (said) expect(found).toBe(hash(fresh));
    else expect([hash(old), hash(fresh)]).toContain(found);
    outcomes += 1;
  }
  expect(outcomes).toBe(KILLS);
});
