import { describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { gone, TestFolder } from '../harness/processes.js';
import { ScriptedServer } from '../harness/scripted-server.js';

describe('ps and kill', () => {
  test('show and end the processes of other connections', async () => {
    const mark = `mark-ps-${process.pid}-${Date.now()}`;
    await using server = await ServerProcess.start();
    const { client: first } = await dialWire(server.url);
    const { client: second } = await dialWire(server.url);
    const sessionId = await first.handshake();
    await second.handshake();
    for (const client of [first, second]) {
      await client.call('process/start', startParams('same', ['sh', '-c', 'sleep 1000; :', mark]));
    }
    const list = await execwire(['ps', '-e', server.url, '--json']);
    const argv = ['sh', '-c', 'sleep 1000; :', mark];
    expect(JSON.parse(list.stdout)).toMatchObject([
      { processId: 'same', sessionId, argv, exited: false, details: { waitsForInput: null } },
      { processId: 'same', argv, exited: false },
    ]);

    const ambiguous = await execwire(['kill', '-e', server.url, 'same']);
    expect(ambiguous).toMatchObject({ code: 1, stderr: expect.stringContaining('--session') });
    const chosen = await execwire(['kill', '-e', server.url, '--session', sessionId.slice(0, 8), 'same']);
    expect(chosen).toEqual({ code: 0, stdout: '', stderr: '' });
    await first.closedEvents('same');
    expect((await execwire(['kill', '-e', server.url, 'same'])).code).toBe(0);
    await gone(mark);
    expect(await execwire(['kill', '-e', server.url, 'same'])).toMatchObject({
      code: 1,
      stderr: 'execwire: The process "same" has ended already.\n',
    });
    const { stdout } = await execwire(['ps', '-e', server.url]);
    expect(stdout).toMatch(
      /^ID +SESSION +PID +AGE +STATE +COMMAND\nsame +[0-9a-f]{8} +\d+ +\d+s +exited 143 +sh -c sleep 1000; : mark-/,
    );
  });

  test('the own session keeps its view, and other servers are told apart', async () => {
    await using server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    const { client: other } = await dialWire(server.url);
    await client.handshake();
    await other.handshake();
    await other.call('process/start', startParams('p', ['sleep', '1000']));
    expect(await client.call('process/list')).toEqual({ processes: [] });
    expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: false });
    expect(await client.call('process/terminate', { processId: 'p', sessionId: 'no' })).toEqual({
      running: false,
    });
    expect(await client.refusal('process/list', { scope: 'universe' })).toBe(-32602);
    expect(await execwire(['ps', '-e', 'local'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Name a server'),
    });
  });
});

test('a server without the view is told apart by a clear sentence', async () => {
  const server = new ScriptedServer();
  await using environment = await RemoteEnvironment.connect({ id: 'old', dial: server.dial, resume: false });
  const sentence = 'This server does not offer a view of the processes of other connections.';
  await expect(environment.listServer()).rejects.toThrow(sentence);
  await expect(environment.terminateOnServer({ processId: 'p', sessionId: 's' })).rejects.toThrow(sentence);
  expect(server.sentTo('process/list')).toEqual([]);
});

describe('doctor', () => {
  test('doctor measures each layer and fails when one is broken', async () => {
    using folder = new TestFolder();
    // A home of its own: the profile of whoever runs the tests may take any time.
    const env = { HOME: folder.path };
    const [all, far, dead] = await Promise.all([
      execwire(['doctor', '--json'], { env }),
      execwire(['doctor', '-e', 'local'], { env }),
      execwire(['doctor', '-e', 'ws://127.0.0.1:1', '--json']),
    ]);
    const findings = JSON.parse(all.stdout) as { layer: string; verdict: string }[];
    expect(findings.map(({ layer }) => layer)).toEqual([
      'backend',
      'process trees',
      'spawn',
      'terminal',
      'shell',
      'login shell',
      'sandbox',
      'held changes',
      'server start',
    ]);
    // Whether there is a sandbox, and what the login shell does, is up to the machine the test runs on.
    const ours = findings.filter(({ layer }) => !['sandbox', 'login shell'].includes(layer));
    expect(ours.filter(({ verdict }) => verdict === 'broken')).toEqual([]);
    expect(far.stdout).toMatch(/^connect +ok +[\d.]+ ms$/m);
    expect(dead.code).toBe(1);
    expect(JSON.parse(dead.stdout)).toEqual([
      { layer: 'connect', verdict: 'broken', ms: null, hint: expect.stringContaining('ECONNREFUSED') },
    ]);
  });
});
