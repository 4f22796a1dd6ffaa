import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type CommandResult, execwire } from '../../testkit/command-line.mjs';
import { TestFolder } from '../harness/processes.js';

/** Sets the title of a terminal, moves its cursor, and begins a line that looks like ours; the last in one character. */
const EVIL = 'x\u001b]0;owned\u0007\u001b[2J\r\nexecwire: all is well\u009b31m';
const listed = { isFile: false, isDirectory: false, isSymlink: false, size: 0, mode: 0o644 };

/** A server that puts control characters wherever it may put text. */
function answerTo(method: string): object {
  const info = { shell: { name: 'sh', path: EVIL }, platformOs: EVIL, executorVersion: EVIL };
  const capabilities = { fsDirectoryDetails: true, serverProcesses: true, processList: true, [EVIL]: true };
  switch (method) {
    case 'initialize':
      return { result: { sessionId: 's', environmentInfo: info, capabilities } };
    case 'environment/info':
      return { result: info };
    case 'fs/getMetadata':
      return {
        result: {
          isDirectory: true,
          isFile: false,
          isSymlink: false,
          size: 0,
          createdAtMs: 0,
          modifiedAtMs: 0,
        },
      };
    case 'fs/readDirectory':
      return {
        result: {
          entries: [
            { ...listed, fileName: EVIL },
            { ...listed, fileName: 'plain' },
            { ...listed, fileName: 'p\u001b[2J' },
          ],
        },
      };
    case 'process/list':
      return {
        result: {
          processes: [
            {
              processId: EVIL,
              sessionId: EVIL,
              pid: 1,
              argv: [EVIL],
              tty: false,
              startedAtMs: 0,
              exited: false,
              exitCode: null,
              closed: false,
            },
          ],
        },
      };
    default:
      return { error: { code: -32600, message: EVIL } };
  }
}

let server: WebSocketServer;
let url: string;
beforeAll(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id?: number; method: string };
      if (id !== undefined) socket.send(JSON.stringify({ id, ...answerTo(method) }));
    }),
  );
  await once(server, 'listening');
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

/** What a terminal gets to see, and whether a line of it is the server's own. */
function expectHarmless({ stdout, stderr }: CommandResult): void {
  expect(stdout).not.toMatch(CONTROL);
  expect(stderr).not.toMatch(CONTROL);
  expect(`${stdout}${stderr}`).not.toMatch(/^execwire: all is well/m);
}

describe('what a server says reaches the terminal as text only', () => {
  test.each([
    ['run', ['run', '-e', 'URL', '--', 'true']],
    ['ps', ['ps', '-e', 'URL']],
    ['ps --json', ['ps', '-e', 'URL', '--json']],
    ['env info', ['env', 'info', 'URL']],
    ['env info --json', ['env', 'info', 'URL', '--json']],
    ['env check', ['env', 'check', 'URL']],
    ['conformance', ['conformance', '--url', 'URL', '--case', 'files/content']],
  ])('%s', async (_, args) => {
    const result = await execwire(args.map((word) => (word === 'URL' ? url : word)));
    expect(result.stdout + result.stderr).not.toBe('');
    expectHarmless(result);
  });

  test('cp names what it leaves out', async () => {
    using folder = new TestFolder();
    const result = await execwire(['cp', `${url}:/tree`, folder.file('copy')]);
    expect(result.stderr).toContain('left out');
    expectHarmless(result);
  });

  test('completion leaves out what is more than a name', async () => {
    const result = await execwire(['completion', 'candidates', '--', 'cp', `${url}:/tree/p`]);
    expect(result.stdout).toBe(`words\n${url}:/tree/plain\n`);
  });
});
