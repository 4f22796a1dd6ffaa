import { homedir } from 'node:os';
import { realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandResult, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

let server: ServerProcess;
let folder: TestFolder;
beforeAll(async () => {
  server = await ServerProcess.start();
  folder = new TestFolder();
  writeFileSync(
    folder.file('environments.toml'),
    `default = "dead"
[[environments]]
id = "dead"
url = "ws://127.0.0.1:1"
[[environments]]
id = "dies"
program = "sh"
args = ["-c", "echo 'Permission denied (publickey).' >&2; echo 'Permission denied (publickey).' >&2; exit 255"]
[[environments]]
id = "served"
url = "${server.url}"
`,
  );
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const run = (...args: string[]): Promise<CommandResult> =>
  execwire(args, { env: { EXECWIRE_HOME: folder.path } });

describe('messages', () => {
  test('a program that could not connect is heard, once', async () => {
    expect(await run('run', '-e', 'dies', '--', 'true')).toEqual({
      code: 125,
      stdout: '',
      stderr:
        'dies: Permission denied (publickey).\n' +
        'execwire: Environment "dies" cannot be reached: The connection ended: the program ended with exit status 255.\n',
    });
  });

  test('an environment out of reach is named by every command, and this machine never takes its place', async () => {
    const commands = [
      ['run', '--', 'echo', 'here'],
      ['ps'],
      ['kill', 'x'],
      ['env', 'info'],
      ['connect', 'dead'],
      ['cp', ':/etc/hostname', '-'],
    ];
    for (const { code, stdout, stderr } of await Promise.all(commands.map((args) => run(...args)))) {
      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^execwire: Environment "dead" cannot be reached: .*ECONNREFUSED.*\n$/);
    }
    const check = await run('env', 'check', 'dead');
    expect(check.stdout).toMatch(/^dead +- +- +Cannot connect to ws:\/\/127\.0\.0\.1:1: /m);
  });

  test('a configuration that cannot be read is an error, not a reason to run here', async () => {
    using broken = new TestFolder();
    symlinkSync('nowhere', broken.file('environments.toml'));
    const outcome = await execwire(['run', '--', 'echo', 'here'], { env: { EXECWIRE_HOME: broken.path } });
    expect(outcome).toEqual({
      code: 125,
      stdout: '',
      stderr: `execwire: Cannot read ${broken.file('environments.toml')}: it does not exist.\n`,
    });
  });

  test('an address that is none is not repeated: it may hold a password', async () => {
    const instead = ' For a server at http://…, use ws://…; for https://…, wss://….';
    for (const [address, hint] of [
      ['http://user:secret@host', instead],
      ['ws://user:secret@host:99999', ''],
    ] as const) {
      const { code, stderr } = await run('run', '-e', address, '--', 'true');
      expect([code, stderr]).toEqual([
        125,
        `execwire: The address must be ws://HOST:PORT, wss://…, unix:///PATH, fleet:NAME or https://HOST/cloud/environment/ID.${hint}\n`,
      ]);
    }
  });

  test('cp names the file it is about, and the machine', async () => {
    const missing = folder.file('missing');
    const outcomes = await Promise.all([
      run('cp', missing, 'served:/tmp'),
      run('cp', `served:${missing}`, folder.path),
      run('cp', folder.file('environments.toml'), `served:${missing}/below`),
    ]);
    expect(outcomes.map(({ stderr }) => stderr)).toEqual([
      `execwire: ${missing}: No such file or directory\n`,
      `execwire: served:${missing}: No such file or directory\n`,
      `execwire: served:${missing}/below: No such file or directory\n`,
    ]);
  });

  test('a relative directory is meant from here on this machine, from the home directory on others', async () => {
    const [here, there] = await Promise.all([
      run('run', '-e', 'local', '--cwd', 'test/cli', '--', 'pwd'),
      run('run', '-e', 'served', '--cwd', 'no-such-directory', '--', 'pwd'),
    ]);
    expect(here.stdout).toBe(`${realpathSync('test/cli')}\n`);
    expect(there.stderr).toBe(
      `execwire: The working directory ${homedir()}/no-such-directory does not exist.\n`,
    );
  });
});
