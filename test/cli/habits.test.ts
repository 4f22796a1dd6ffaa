import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHint } from '../../src/cli/habits/start-hints.js';
import { rewriteArguments } from '../../src/cli/habits/rewrite-arguments.js';
import { type CommandResult, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

// Each test starts several programs, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

let server: ServerProcess;
let folder: TestFolder;
let home: string;
beforeAll(async () => {
  folder = new TestFolder();
  mkdirSync(folder.file('home'));
  home = realpathSync(folder.file('home'));
  server = await ServerProcess.start({ wrapper: ['env', `HOME=${home}`] });
  writeFileSync(
    folder.file('environments.toml'),
    `[[environments]]\nid = "box"\nurl = "${server.url}"\n[[environments]]\nid = "env"\nurl = "ws://127.0.0.1:1"\n`,
  );
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

const type = (...args: string[]): Promise<CommandResult> =>
  execwire(args, { env: { EXECWIRE_HOME: folder.path } });

const rows = async (): Promise<{ processId: string; pid: number; exitCode: number | null }[]> =>
  JSON.parse((await type('ps', 'box', '--json')).stdout);

const detached = async (script: string): Promise<string> =>
  (await type('run', '--detach', 'box', '--', 'sh', '-c', script)).stdout.trim();

describe('a machine as an argument', () => {
  test('runs the program there, in the home directory', async () => {
    for (const args of [
      ['run', 'box', '--', 'pwd'],
      ['exec', 'box', '--', 'pwd'],
      ['exec', '-i', server.url, '--', 'pwd'],
      ['run', '-e', 'box', 'pwd'],
    ])
      expect(await type(...args)).toEqual({ code: 0, stdout: `${home}\n`, stderr: '' });
  });

  test('is not mistaken for a program, nor a program for it', async () => {
    const programs = [
      ['run', 'local', '--', 'printf', '%s', 'here'],
      ['run', '--', 'env', '--', 'printf', '%s', 'here'],
      ['run', '-e', 'local', 'env', '--', 'printf', '%s', 'here'],
      ['run', '-e', 'local', '--', 'printf', '%s', 'here'],
      ['run', 'printf', '%s', 'here'],
    ];
    for (const args of programs) expect(await type(...args)).toEqual({ code: 0, stdout: 'here', stderr: '' });
    const both = await type('run', 'env', '--', 'true');
    expect([both.code, both.stderr]).toEqual([125, expect.stringContaining('"env" cannot be reached')]);
  });

  test('cannot be given twice', async () => {
    const { code, stderr } = await type('ps', '-e', 'local', 'box');
    expect([code, stderr]).toEqual([2, 'execwire: Two machines are named; leave out -e, or the argument.\n']);
  });
});

describe('directories', () => {
  test('-w is --cwd, and a relative one starts in the home directory', async () => {
    mkdirSync(`${home}/sub`, { recursive: true });
    const outcomes = await Promise.all([
      type('run', '-w', 'sub', 'box', '--', 'pwd'),
      type('run', '-w', '~/sub', 'box', '--', 'pwd'),
      type('run', '--cwd', `${home}/sub`, 'box', '--', 'pwd'),
    ]);
    for (const { stdout } of outcomes) expect(stdout).toBe(`${home}/sub\n`);
  });

  test('a home directory that does not exist is replaced by the root', async () => {
    const homeless = await ServerProcess.start({ wrapper: ['env', 'HOME=/nonexistent'] });
    try {
      expect(await type('run', homeless.url, '--', 'pwd')).toEqual({ code: 0, stdout: '/\n', stderr: '' });
    } finally {
      await homeless.stop();
    }
  });

  test('a sandboxed program starts where the server works, so that a home directory is not its workspace', async () => {
    const { stdout } = await type('run', '--sandbox', 'read-only', 'box', '--', 'pwd');
    expect(stdout).toBe(`${process.cwd()}\n`);
  });
});

describe('kill', () => {
  test.each([
    ['-9', 137],
    ['-KILL', 137],
    ['-SIGHUP', 129],
    ['-HUP', 129],
    ['-INT', 130],
  ])('%s', async (signal, exitCode) => {
    const id = await detached('exec sleep 300');
    expect(await type('kill', signal, '-e', 'box', id)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await type('wait', '-e', 'box', id)).code).toBe(exitCode);
  });

  test('a machine may be named in front of the ids', async () => {
    const ids = await Promise.all([detached('exec sleep 300'), detached('exec sleep 300')]);
    expect(await type('kill', 'box', ...ids)).toEqual({ code: 0, stdout: '', stderr: '' });
    for (const id of ids) expect((await type('wait', '-e', 'box', id)).code).toBe(143);
  });

  test('asks politely by default, and takes pids', async () => {
    const id = await detached('trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.1; done');
    await type('logs', '-e', 'box', '--grep', 'ready', id);
    let pid = 0;
    do pid = (await rows()).find(({ processId }) => processId === id)?.pid ?? 0;
    while (!(await type('logs', '-e', 'box', id)).stdout.includes('ready'));
    expect((await type('kill', '-e', 'box', String(pid))).code).toBe(0);
    expect((await type('wait', '-e', 'box', id)).code).toBe(7);
  });

  test('-s takes names in any form, and refuses what is none', async () => {
    for (const signal of ['term', 'SIGTERM', '15']) {
      const id = await detached('exec sleep 300');
      expect((await type('kill', '-s', signal, '-e', 'box', id)).code).toBe(0);
      expect((await type('wait', '-e', 'box', id)).code).toBe(143);
    }
    const { code, stderr } = await type('kill', '-BOGUS', '-e', 'box', 'x');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Use a name such as TERM')]);
  });

  test('a signal in front of -- is one, behind it is not', () => {
    expect(rewriteArguments(['kill', '-9', 'a', '--', '-TERM'])).toEqual([
      'kill',
      '--signal=9',
      'a',
      '--',
      '-TERM',
    ]);
    expect(rewriteArguments(['run', '-9'])).toEqual(['run', '-9']);
  });
});

test('help says nothing about what an option is before it is given', async () => {
  for (const command of ['run', 'serve', 'mcp']) {
    const { code, stdout } = await type(command, '--help');
    expect([code, stdout]).toEqual([0, expect.stringContaining('repeat')]);
    expect(stdout).not.toMatch(/default:\s+(\[\]|\{\})/);
  }
  expect((await type('kill', '--help')).stdout).toContain('(default: 5s)');
});

describe('hints', () => {
  test.each([
    [['run', 'ls | head'], 127, "execwire run -- sh -c 'COMMAND'"],
    [['run', 'box', 'make'], 127, 'execwire run box -- PROGRAM'],
    [['run', '-e', 'FOO=secret', 'ls'], 125, '--env FOO=VALUE'],
    [['run', '--workdir', '/', 'ls'], 2, '-w DIRECTORY'],
    [['run', '--dir', '/', 'ls'], 2, '-w DIRECTORY'],
    [['run', '--volume', '/:/', 'ls'], 2, 'execwire cp'],
    [['run', '--background', 'sleep', '9'], 2, '--detach'],
    [['run', 'bax', '--', 'ls'], 127, 'execwire env list'],
    [['run', '--cwdd', '/', 'ls'], 2, 'Did you mean --cwd?'],
    [['run', '--token', 'secret', 'ls'], 2, '--token-file FILE'],
    [['forward', 'abc'], 2, "error: 'abc' cannot be used as port. Write 8080"],
    [['ls'], 2, 'execwire run -- PROGRAM'],
    [['cp', 'ws://127.0.0.1:1', '/tmp'], 2, 'ws://HOST:PORT:/PATH'],
    [['cp', 'here'], 2, "missing required argument 'destination'"],
  ] as const)('%j', async (args, code, hint) => {
    const outcome = await type(...args);
    expect([outcome.code, outcome.stdout, outcome.stderr]).toEqual([code, '', expect.stringContaining(hint)]);
    expect(outcome.stderr).not.toContain('secret');
  });

  test('only for programs that do not exist', async () => {
    expect(await startHint(new Error('other'), ['ls | head'])).toBeUndefined();
  });
});

describe.skipIf(process.getuid?.() !== 0)('-u', () => {
  test('runs as another user, in their home directory and with their groups', async () => {
    const script = 'id -un; id -gn; pwd; echo $HOME; echo $USER';
    const { stdout, stderr } = await type('run', '-u', 'daemon', 'box', '--', 'sh', '-c', script);
    const theirs = execFileSync('getent', ['passwd', 'daemon'], { encoding: 'utf8' }).split(':')[5];
    expect([stdout, stderr]).toEqual([`daemon\ndaemon\n${theirs}\n${theirs}\ndaemon\n`, '']);
  });

  test('is ended with everything it started', async () => {
    const { stdout, code } = await type(
      ...[
        'run',
        '--timeout',
        '1s',
        '-u',
        'daemon',
        'box',
        '--',
        'sh',
        '-c',
        'setsid sleep 300 & echo $!; wait',
      ],
    );
    expect(code).toBe(124);
    expect(() => process.kill(Number(stdout), 0)).toThrow('ESRCH');
  });

  test('says what is wrong', async () => {
    const unknown = await type('run', '-u', 'nobody-knows', 'box', '--', 'true');
    expect(unknown).toEqual({
      code: 125,
      stdout: '',
      stderr: 'execwire: There is no user nobody-knows on that machine.\n',
    });
    const confined = await type('run', '-u', 'daemon', '--sandbox', 'read-only', 'box', '--', 'true');
    expect([confined.code, confined.stderr]).toEqual([2, 'execwire: -u cannot be used with --sandbox.\n']);
    const plain = await ServerProcess.start({
      wrapper: ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', 'env', 'HOME=/'],
    });
    try {
      const refused = await type('run', '-u', 'daemon', plain.url, '--', 'true');
      expect([refused.code, refused.stderr]).toEqual([
        125,
        expect.stringContaining('Only a server that runs as root'),
      ]);
    } finally {
      await plain.stop();
    }
  });
});
