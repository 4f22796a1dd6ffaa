import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { lineWire, WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

/** A folder with one environment of each kind; `dead` cannot be reached. */
function configure(url: string): TestFolder {
  const folder = new TestFolder();
  writeFileSync(
    folder.file('environments.toml'),
    `default = "served"
[[environments]]
id = "served"
url = "${url.replace('ws://', 'ws://user:secret-password@')}"
auth_bearer_token = "secret-token"
[[environments]]
id = "started"
program = "${process.execPath}"
args = ["${bin}", "serve", "--listen", "stdio", "--log-level", "silent"]
env = { HIDDEN = "secret-variable" }
[[environments]]
id = "dead"
url = "ws://127.0.0.1:1"
`,
  );
  return folder;
}

describe('environments', () => {
  test('list, info, check and run know them by id, and never show what is secret', async () => {
    await using server = await ServerProcess.start();
    using folder = configure(server.url);
    const env = { EXECWIRE_HOME: folder.path };
    const [list, json, info, check, byDefault, started] = await Promise.all([
      execwire(['env', 'list'], { env }),
      execwire(['env', 'list', '--json'], { env }),
      execwire(['env', 'info', '--json'], { env }),
      execwire(['env', 'check', '--json'], { env }),
      execwire(['run', '--', 'echo', 'served'], { env }),
      execwire(['run', '-e', 'started', '--', 'sh', '-c', 'echo $HIDDEN'], { env }),
    ]);
    expect(JSON.parse(json.stdout)).toEqual([
      { id: 'local', kind: 'local', where: 'this machine', default: false, status: 'ready' },
      { id: 'served', kind: 'url', where: server.url, default: true, status: 'pending' },
      { id: 'started', kind: 'program', where: process.execPath, default: false, status: 'pending' },
      { id: 'dead', kind: 'url', where: 'ws://127.0.0.1:1', default: false, status: 'pending' },
    ]);
    expect(JSON.parse(info.stdout)).toMatchObject({
      id: 'served',
      platformOs: process.platform,
      extensions: { serverProcesses: true },
    });
    expect(check.code).toBe(1);
    expect(JSON.parse(check.stdout)).toMatchObject([
      { id: 'local', ready: true },
      { id: 'served', ready: true, roundTripMs: expect.any(Number) },
      { id: 'started', ready: true },
      { id: 'dead', ready: false, reason: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect([byDefault.stdout, started.stdout]).toEqual(['served\n', 'secret-variable\n']);
    for (const { stdout, stderr } of [list, json, info, check])
      expect(stdout + stderr).not.toMatch(/secret-/);
  });

  test.each(['local', 'ws', 'program'])('connect relays the protocol on stdio, %s', async (kind) => {
    await using server = await ServerProcess.start();
    using folder = configure(server.url);
    const target = { local: 'local', ws: server.url, program: 'started' }[kind] ?? '';
    const relay = new CommandLine(['connect', target], { EXECWIRE_HOME: folder.path });
    const client = new WireClient(lineWire(relay.child));
    await client.handshake();
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    relay.child.stdin.end();
    expect(await relay.result()).toMatchObject({ code: 0, stderr: '' });
  });

  test('connect says when the other side goes away', async () => {
    const server = await ServerProcess.start();
    const relay = new CommandLine(['connect', server.url]);
    relay.child.stdin.write('{"id":1,"method":"initialize","params":{"clientName":"x"}}\n');
    await relay.says('sessionId');
    await server.stop('SIGKILL');
    const { code, stderr } = await relay.result();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^execwire: The connection to ws:\/\/\S+ ended: .*\n$/);
  });
});
