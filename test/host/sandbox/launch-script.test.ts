import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TestFolder } from '../../harness/processes.js';
import { Launch, type LaunchOrder, waitingShell } from '../../../src/host/sandbox/index.js';

/** What a pipe takes. */
const MAX_BYTES = 4096;

const tools = { shell: '/bin/sh', env: '/usr/bin/env' };
const order = (changes: Partial<LaunchOrder> = {}): LaunchOrder => ({
  argv: ['tool', '-x'],
  cwd: '/work place',
  env: { A: 'b' },
  stdin: 'pipe',
  ...changes,
});
const launch = (changes: Partial<LaunchOrder> = {}): Launch => {
  const made = Launch.of(order(changes), tools, MAX_BYTES);
  return made ?? expect.fail('it cannot be launched');
};
const line = (...words: string[]): string => words.map((word) => `${word}\0`).join('');

describe('what a waiting shell is told', () => {
  test('changes the directory, takes the environment and the arguments, and nothing of the shell', () => {
    expect(Buffer.from(launch().script).toString()).toBe(
      "cd -P '/work place' || exit 126\nexec '/usr/bin/./env' '-i' '--' 'A=b' 'tool' '-x' 6<&-\n",
    );
    expect(Buffer.from(launch({ stdin: 'null' }).script).toString()).toContain(" '-x' </dev/null 6<&-\n");
  });

  test('means to a shell what it says, whatever is in it', () => {
    const words = [
      "'",
      "''",
      `"'"`,
      '\\',
      '\\n',
      '$(id)',
      '`id`',
      '\n',
      ' ',
      '',
      '!',
      '~',
      '#x',
      '\u{1f600}',
      ';',
      '&',
      '\r',
    ];
    const { script } = launch({
      argv: ['printf', '%s\\0', ...words],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
    });
    const said = execFileSync('/bin/sh', { input: script, encoding: 'utf8' });
    expect(said.split('\0').slice(0, -1)).toEqual(words);
  });

  test('goes to the directory the kernel would go to', () => {
    using folder = new TestFolder();
    mkdirSync(join(folder.path, 'far/away'), { recursive: true });
    symlinkSync('far/away', join(folder.path, 'link'));
    const { script } = launch({ argv: ['/bin/pwd'], cwd: `${folder.path}/link/..`, env: {} });
    const said = execFileSync('/bin/sh', { input: script, encoding: 'utf8' });
    expect(said).toBe(`${realpathSync(folder.path)}/far\n`);
  });

  test.each([
    ['a program that looks like a variable', { argv: ['a=b'] }],
    ['the waiting shell itself', { argv: waitingShell(tools) }],
    ['more than a pipe takes', { argv: ['tool', 'x'.repeat(MAX_BYTES)] }],
  ])('cannot be %s', (_what, changes) => {
    expect(Launch.of(order(changes), tools, MAX_BYTES)).toBeNull();
  });
});

describe('a launch', () => {
  test('is under way until the command line is the program’s', () => {
    expect(launch().isUnderWay(line(...waitingShell(tools)))).toBe(true);
    expect(launch().isUnderWay('')).toBe(true);
    expect(launch().isUnderWay(line('/usr/bin/./env', '-i', '--', 'A=b', 'tool', '-x'))).toBe(true);
    expect(launch().isUnderWay(line('tool', '-x'))).toBe(false);
    // Half a character, which no system call can carry.
    const broken = launch({ argv: ['tool', '\ud800'] });
    expect(broken.isUnderWay(line('/usr/bin/./env', '-i', '--', 'A=b', 'tool', '\ufffd'))).toBe(true);
    // A program that is itself the one on the way.
    const nested = launch({ argv: ['/usr/bin/env', '-i', '--', 'A=b', 'tool'], env: {} });
    expect(nested.isUnderWay(line('/usr/bin/env', '-i', '--', 'A=b', 'tool'))).toBe(false);
  });

  test.each([
    [126, "/usr/bin/./env: 'tool': Permission denied\n", true],
    [127, "/usr/bin/./env: 'a tool': No such file or directory\n/usr/bin/./env: use -[v]S\n", true],
    [126, "/proc/self/fd/6: 1: cd: can't cd to /work place\n", true],
    [127, "/usr/bin/env: 'tool': No such file or directory\n", false],
    [127, "tool: cannot find /usr/bin/./env: 'tool': \n", false],
    [127, "/usr/bin/./env: 'tool': No such file or directory\nand more\n", false],
    [127, '', false],
    [1, "/usr/bin/./env: 'tool': No such file or directory\n", false],
    [null, "/usr/bin/./env: 'tool': No such file or directory\n", false],
  ])('that ended with %s and said %j has failed: %s', (exitCode, said, failed) => {
    expect(launch().mayHaveFailed(exitCode) && launch().saysFailed(said)).toBe(failed);
  });
});
