import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type CaseReport, conformanceCases, runConformance } from '../../src/conformance/index.js';
import { dialWebSocket } from '../../src/transport/index.js';
import { TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';

async function conformance(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [bin, 'conformance', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: Number(code), stdout, stderr };
}

describe('execwire conformance', () => {
  const temporary = new TestFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ args: ['--log-level', 'silent'], env: { TMPDIR: temporary.path } });
  });
  afterAll(async () => {
    await server.stop();
    temporary[Symbol.dispose]();
  });

  test('our server is ok in everything, and nothing stays on its machine', async () => {
    const { code, stdout, stderr } = await conformance(['--url', server.url, '--json']);
    const reports = JSON.parse(stdout) as CaseReport[];
    expect(reports.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    expect(reports.map(({ name }) => name)).toEqual(conformanceCases.map(({ name }) => name));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(temporary.path)).toEqual([]);
  });

  test('a program is a server too; its own options are its own', async () => {
    const program = ['--program', process.execPath, bin, 'serve', '--listen', 'stdio'];
    const { code, stdout } = await conformance(program);
    expect(stdout).toMatch(/^ok {7}envelope\/unusable-messages\n/);
    expect(stdout).toMatch(/\n(\d+) cases: \1 ok, 0 differ, 0 fail\n$/);
    expect(code).toBe(0);
    // Each case starts the program anew.
  }, 120_000);

  test('a server that is none is told from one that differs', async () => {
    const silent = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address() as { port: number };
    const { code, stderr } = await conformance(['--url', `ws://127.0.0.1:${address.port}`]);
    expect(stderr).toMatch(/^execwire: Cannot connect to ws:\/\/127\.0\.0\.1:\d+: .+\n$/);
    expect(code).toBe(1);
    silent.close();
  });

  test('a server that cannot be reached any more fails, one that answers nonsense differs', async () => {
    let dials = 0;
    const dial = async () => {
      dials += 1;
      if (dials === 2) throw new Error('no way through');
      return await dialWebSocket(server.url);
    };
    const reports = await runConformance({ dial, reconnects: true, only: 'envelope/ids' });
    expect(reports).toMatchObject([{ name: 'envelope/ids', outcome: 'fails', seen: 'no way through' }]);
    const babbler = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    babbler.on('connection', (socket) => socket.on('message', () => socket.send('nonsense')));
    await once(babbler, 'listening');
    const { port } = babbler.address() as { port: number };
    const babble = () => dialWebSocket(`ws://127.0.0.1:${port}`);
    await expect(runConformance({ dial: babble, reconnects: true })).rejects.toThrow('not a message');
    babbler.close();
  });

  test.each([
    [[], 'Use exactly one of --url and --program.'],
    [['--url', 'ws://127.0.0.1:1', '--program', 'true'], 'Use exactly one of --url and --program.'],
    [['--url', 'ws://127.0.0.1:1', 'more'], 'Arguments need --program.'],
    [
      ['--url', 'ws://127.0.0.1:1', '--token-env', 'NO_SUCH_VARIABLE'],
      'The variable given with --token-env is not set.',
    ],
  ])('an invalid command line is refused: %j', async (args, message) => {
    expect(await conformance(args)).toEqual({ code: 2, stdout: '', stderr: `execwire: ${message}\n` });
  });

  test('names are unique and stable in form', () => {
    const names = conformanceCases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+\/[a-z0-9-]+$/);
  });
});
