import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { gone, TestFolder } from '../harness/processes.js';

const mark = (name: string): string => `mark-${name}-${process.pid}-${Date.now()}`;
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--session-ttl', '1'] });
});
afterAll(async () => {
  await server.stop();
});

describe.each(['local', 'ws'])('run, %s', (kind) => {
  const on = (...args: string[]): string[] => ['run', '-e', kind === 'local' ? 'local' : server.url, ...args];

  test('streams, variables, directory and exit code are those of the program', async () => {
    using folder = new TestFolder();
    const script = 'cat; pwd; echo "$GREETING $PASSED" >&2; exit 7';
    const options = ['--cwd', folder.path, '--env', 'GREETING=a=b', '--env', 'PASSED'];
    expect(
      await execwire(on(...options, 'sh', '-c', script), { input: 'typed\n', env: { PASSED: 'on' } }),
    ).toEqual({ code: 7, stdout: `typed\n${folder.path}\n`, stderr: 'a=b on\n' });
  });

  test('what goes wrong has its own exit code', async () => {
    const outcomes = await Promise.all([
      execwire(on('--', 'no-such-program-anywhere')),
      execwire(on('--', process.cwd())),
      execwire(on('--timeout', '100ms', '--', 'sleep', '1000')),
      execwire(on('--no-stdin', '--', 'sh', '-c', 'cat; kill -USR1 $$')),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([127, 126, 124, 128 + 10]);
    expect(outcomes[0]?.stderr).toBe(
      'execwire: There is no program no-such-program-anywhere in the PATH of the process.\n',
    );
  });

  test('signals are passed on, and a second Ctrl-C kills what ignores the first', async () => {
    const polite = new CommandLine(
      on('--', 'sh', '-c', 'trap "echo bye; exit 9" TERM; echo ready; while :; do sleep 0.05; done'),
    );
    await polite.says('ready');
    polite.child.kill('SIGTERM');
    expect(await polite.result()).toMatchObject({ code: 9, stdout: 'ready\nbye\n' });

    const stubborn = new CommandLine(
      on('--', 'sh', '-c', 'trap "echo no" INT; echo ready; while :; do sleep 0.05; done'),
    );
    await stubborn.says('ready');
    stubborn.child.kill('SIGINT');
    await stubborn.says('no');
    // Again and again, also while we say goodbye: the program's end is what counts.
    const again = setInterval(() => stubborn.child.kill('SIGINT'), 1);
    onTestFinished(() => clearInterval(again));
    expect((await stubborn.result()).code).toBe(137);
  });

  test('bytes pass unchanged in both directions, however many', async () => {
    const input = randomBytes(8 * 1024 * 1024);
    const command = new CommandLine(on('--', 'cat'));
    command.child.stdin.end(input);
    expect((await command.result()).code).toBe(0);
    expect(sha(command.bytes)).toBe(sha(input));
  });

  test('a reader that goes away ends the program', async () => {
    const name = mark('pipe');
    const command = new CommandLine(on('--', 'sh', '-c', 'while :; do echo y; done', name));
    await command.says('y');
    command.child.stdout.destroy();
    expect((await command.result()).code).toBe(141);
    await gone(name);
  });

  test('nothing is left behind by a command line that was killed', async () => {
    const name = mark('killed');
    const command = new CommandLine(on('--', 'sh', '-c', 'echo ready; setsid sleep 1000 & sleep 1000', name));
    await command.says('ready');
    command.child.kill('SIGKILL');
    await command.result();
    await gone(name);
  });

  test('-t runs on a terminal', async () => {
    const { code, stdout } = await execwire(
      on('-t', '--', 'sh', '-c', 'test -t 0 && test -t 1 && stty size'),
    );
    expect([code, stdout]).toEqual([0, '24 80\r\n']);
  });
});

test('an unknown environment and an invalid command line', async () => {
  const [unknown, unreachable, nothing, duration] = await Promise.all([
    execwire(['run', '-e', 'nowhere', '--', 'true']),
    execwire(['run', '-e', 'ws://127.0.0.1:1', '--', 'true']),
    execwire(['run']),
    execwire(['run', '--timeout', 'soon', '--', 'true']),
  ]);
  expect(unknown).toMatchObject({
    code: 125,
    stderr: expect.stringMatching(/^execwire: No environment "nowhere" is configured\. Known: local\..*\n$/),
  });
  expect(unreachable.code).toBe(125);
  expect(unreachable.stderr).toMatch(/^execwire: Cannot connect to ws:\/\/127\.0\.0\.1:1: .*\n$/);
  expect([nothing.code, duration.code]).toEqual([2, 2]);
});
