import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/environment/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { call } from '../mcp/call.js';
import { connectStdio } from '../mcp/clients.js';

const MEBIBYTE = 1024 * 1024;
/** Far enough that what a program sends in one go is sent before the first answer is back. */
const ROUND_TRIP_MS = 150;
const TRIES = 4;
/** For all tries, on a machine that is busy. */
const LIMIT_MS = 120_000;

let server: ServerProcess;
const home = new TestFolder();
beforeAll(async () => {
  // `doctor` starts a login shell there. What that does with the files of whoever runs the tests is not our business.
  server = await ServerProcess.start({ wrapper: ['env', `HOME=${home.path}`] });
});
afterAll(async () => {
  await server.stop();
  home[Symbol.dispose]();
});

/**
 * The round trips a command takes. A busy machine can only add to them, as a program that is held up sends late what it
 * could have sent at once: so the fewest of a few tries count, each of them on a line twice as long, where the same delay
 * is half as much of a round trip.
 */
async function roundTrips(args: (url: string, attempt: number) => string[], atMost: number): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && fewest > atMost; attempt += 1) {
    const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS * 2 ** attempt } });
    const { code, stderr } = await execwire(args(proxy.url, attempt));
    fewest = Math.min(fewest, proxy.roundTrips);
    await proxy.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
  return fewest;
}

/** A command that does nothing but connect and leave, to compare with. */
const CONNECT = 2;

// The machine is the same on both sides here, which takes up to three round trips to find out for directories and for what is
// there already; two machines take none.
const SAME_MACHINE = 3;

/** What the guide promises. */
function promised(command: string): number {
  const guide = readFileSync(new URL('../../docs/guides/distance.md', import.meta.url), 'utf8');
  const row = guide.split('\n').find((line) => line.startsWith(`| \`${command}\``));
  return Number(row?.split('|').at(-2));
}

describe('the guide tells the truth about', () => {
  test.each([
    ['execwire run -e URL -- PROGRAM', ['run', '-e', 'URL', '--', 'true'], 0],
    ['execwire ps -e URL', ['ps', '-e', 'URL'], 0],
    ['execwire env info URL', ['env', 'info', 'URL'], 0],
    ['execwire env check URL', ['env', 'check', 'URL'], 0],
    ['execwire doctor -e URL', ['doctor', '-e', 'URL'], 0],
    ['execwire cp FILE URL:/NEW', ['cp', '/many/1', 'URL:/new'], 0],
    ['execwire cp URL:/FILE NEW', ['cp', 'URL:/many/1', '/new'], 0],
    ['execwire cp DIRECTORY URL:/NEW', ['cp', '/many', 'URL:/new'], 2],
    ['execwire cp URL:/DIRECTORY NEW', ['cp', 'URL:/many', '/new'], 2],
    ['execwire cp LARGE URL:/NEW', ['cp', '/large', 'URL:/new'], 0],
    ['execwire cp URL:/LARGE NEW', ['cp', 'URL:/large', '/new'], 0],
  ] as const)('%s', { timeout: LIMIT_MS }, async (command, args, sameMachine) => {
    using folder = new TestFolder();
    mkdirSync(folder.file('many'));
    for (let index = 0; index < 100; index += 1) writeFileSync(folder.file(`many/${index}`), String(index));
    writeFileSync(folder.file('large'), Buffer.alloc(24 * MEBIBYTE));
    const most = promised(command) + sameMachine;
    const taken = await roundTrips(
      (url, attempt) =>
        args.map((arg) =>
          arg
            .replace(/(^|:)\/(.+)$/, (_, before: string, name: string) => `${before}${folder.file(name)}`)
            .replace(/new$/, `new${attempt}`)
            .replace('URL', url),
        ),
      most,
    );
    expect(taken).toBeLessThanOrEqual(most);
  });
});

test('the first tool call does not wait for the handshake', { timeout: LIMIT_MS }, async () => {
  const most = promised('execwire mcp -e URL');
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && fewest > most; attempt += 1) {
    const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS * 2 ** attempt } });
    await using connected = await connectStdio({ args: ['-e', proxy.url] });
    const { text } = await call(connected.client, 'exec_command', { cmd: 'echo done', login: false });
    fewest = Math.min(fewest, proxy.roundTrips);
    expect(text).toContain('done');
    await connected.client.close();
    await proxy.close();
  }
  expect(fewest).toBeLessThanOrEqual(most);
});

test('a program that leaves without waiting has said goodbye', async () => {
  await using noted = await ServerProcess.start({ args: ['--log-level', 'debug'] });
  const proxy = await FaultProxy.to(noted.url, { line: { roundTripMs: ROUND_TRIP_MS } });
  const { url } = proxy;
  expect(await execwire(['run', '-e', url, '--', 'echo', 'done'])).toMatchObject({
    code: 0,
    stdout: 'done\n',
  });
  await expect.poll(() => noted.stderr).toContain('the client is done');
  await proxy.close();
});

test('a library that asks for it sends its first call along with the handshake', async () => {
  const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });
  const url = proxy.url;
  await using environment = await openEnvironment(url, { early: true });
  expect(await environment.run(['echo', 'done'])).toMatchObject({ stdout: 'done\n' });
  expect(proxy.roundTrips).toBe(2);
  await environment.close();
  await proxy.close();
});

test('after a break, two round trips bring everything back', async () => {
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && fewest > 2; attempt += 1) {
    const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });
    await using environment = await openEnvironment(proxy.url);
    await using process = await environment.start({ argv: ['cat'], pipeStdin: true });
    await process.write('before ');
    const events = process.events();
    expect((await events.next()).value).toMatchObject({ type: 'output' });
    proxy.cut();
    // All that was said on the old connection is over.
    proxy.roundTrips = 0;
    await process.write('after');
    fewest = Math.min(fewest, proxy.roundTrips);
    expect(Buffer.from((await events.next()).value.bytes).toString()).toBe('after');
    await environment.close();
    await proxy.close();
  }
  expect(fewest).toBe(2);
});

describe('copying', () => {
  test.each([
    ['up', 2],
    ['down', 2],
  ] as const)('many small files take few round trips, %s', async (direction, trips) => {
    using folder = new TestFolder();
    mkdirSync(folder.file('many'));
    for (let index = 0; index < 100; index += 1) writeFileSync(folder.file(`many/${index}`), String(index));
    const most = CONNECT + SAME_MACHINE + trips;
    const taken = await roundTrips(
      (url, attempt) =>
        direction === 'up'
          ? ['cp', folder.file('many'), `${url}:${folder.file(`copy${attempt}`)}`]
          : ['cp', `${url}:${folder.file('many')}`, folder.file(`copy${attempt}`)],
      most,
    );
    expect(taken).toBeLessThanOrEqual(most);
    expect(readdirSync(folder.file('copy0')).sort()).toEqual(readdirSync(folder.file('many')).sort());
  });

  test('a directory that is there already is listed, not looked at file by file', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('many'));
    mkdirSync(folder.file('there/many'), { recursive: true });
    for (let index = 0; index < 100; index += 1) writeFileSync(folder.file(`many/${index}`), String(index));
    writeFileSync(folder.file('there/target'), 'old');
    symlinkSync('../target', folder.file('there/many/7'));
    writeFileSync(folder.file('there/many/8'), 'old', { mode: 0o600 });
    writeFileSync(folder.file('there/many/kept'), 'kept');
    // What is there is looked at, written and renamed as ever.
    const most = CONNECT + SAME_MACHINE + 5;
    const taken = await roundTrips(
      (url) => ['cp', folder.file('many'), `${url}:${folder.file('there')}`],
      most,
    );
    expect(taken).toBeLessThanOrEqual(most);
    // What a link leads to is not what was asked to be changed.
    expect(readFileSync(folder.file('there/target'), 'utf8')).toBe('old');
    expect(readFileSync(folder.file('there/many/7'), 'utf8')).toBe('7');
    expect(readFileSync(folder.file('there/many/8'), 'utf8')).toBe('8');
    expect(statSync(folder.file('there/many/8')).mode & 0o777).toBe(
      statSync(folder.file('many/8')).mode & 0o777,
    );
    expect(readdirSync(folder.file('there/many'))).toHaveLength(101);
  });

  test.each([
    ['up', 5],
    ['down', 5],
    ['to stdout', 5],
  ] as const)('a large file fills the line, %s', async (direction, trips) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('large'), Buffer.alloc(24 * MEBIBYTE, 'large'));
    const far = (url: string, name: string): string => `${url}:${folder.file(name)}`;
    const most = CONNECT + SAME_MACHINE + trips;
    const taken = await roundTrips((url) => {
      if (direction === 'up') return ['cp', folder.file('large'), far(url, 'copy')];
      return ['cp', far(url, 'large'), direction === 'down' ? folder.file('copy') : '-'];
    }, most);
    expect(taken).toBeLessThanOrEqual(most);
    if (direction !== 'to stdout')
      expect(readFileSync(folder.file('copy')).equals(readFileSync(folder.file('large')))).toBe(true);
  });

  test('what comes on stdin does not wait for what came before', async () => {
    using folder = new TestFolder();
    const input = Buffer.alloc(4 * MEBIBYTE, 'typed');
    const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });
    const place = `${proxy.url}:${folder.file('typed')}`;
    expect(await execwire(['cp', '-', place], { input })).toMatchObject({ code: 0, stderr: '' });
    const taken = proxy.roundTrips;
    await proxy.close();
    // One for every 64 KiB would be more than that.
    expect(taken).toBeLessThan(30);
    expect(readFileSync(folder.file('typed')).equals(input)).toBe(true);
  });
});
