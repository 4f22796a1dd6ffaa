import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPipe } from '../../../src/host/kernel/index.js';
import { LaunchReport } from '../../../src/host/sandbox/launch/launch-report.js';
import { TestFolder } from '../../harness/processes.js';
import {
  LAUNCH_BEGUN,
  LAUNCH_FAILED,
  type LaunchOrder,
  launchScript,
  WAITING_SHELL,
} from '../../../src/host/sandbox/launch/launch-script.js';

/** What a pipe takes. */
const MAX_BYTES = 16_384;

const order = (changes: Partial<LaunchOrder> = {}): LaunchOrder => ({
  argv: ['tool', '-x'],
  cwd: '/',
  env: { A: 'b' },
  stdin: 'pipe',
  ...changes,
});
const script = (changes: Partial<LaunchOrder> = {}): Uint8Array =>
  launchScript(order(changes), MAX_BYTES) ?? expect.fail('it cannot be launched');

/** What the shell and the program it becomes say, and what was reported. */
function launched(changes: Partial<LaunchOrder>): { said: string; report: string; status: number | null } {
  using folder = new TestFolder();
  const report = join(folder.path, 'report');
  writeFileSync(join(folder.path, 'script'), script(changes));
  const open = `exec 6</dev/null 7>'${report}'; exec ${WAITING_SHELL} '${folder.path}/script'`;
  const { stdout, status } = spawnSync('/bin/sh', ['-c', open], {
    env: { PWD: '/', CODEX_SANDBOX_NETWORK_DISABLED: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { said: stdout, report: readFileSync(report, 'utf8'), status };
}

describe('what a waiting shell is told', () => {
  test('means to it what it says, whatever is in it', () => {
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
      'a=b',
    ];
    const { said, report } = launched({
      argv: ['printf', '%s\\0', ...words],
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(said.split('\0').slice(0, -1)).toEqual(words);
    expect(report).toBe(`${LAUNCH_BEGUN}\n`);
  });

  test('hands on the very environment, variables the shell uses itself among it', () => {
    const names =
      'PATH IFS LINENO OPTARG PPID PS1 PS2 PS4 MAIL MAILPATH MAILCHECK HISTSIZE TERM RANDOM SECONDS SHLVL OLDPWD PWD ' +
      '_ UID HOME CDPATH ENV BASH_ENV LC_ALL LANG FCEDIT TMOUT COLUMNS LINES x';
    for (const value of ['', '5', "it's\n'$HOME' \\ \u{1f600}"]) {
      const env = Object.fromEntries([
        ...names.split(' ').map((name) => [name, value]),
        ['CODEX_SANDBOX_NETWORK_DISABLED', '1'],
      ]) as Record<string, string>;
      const { said } = launched({ argv: ['/usr/bin/env', '-0'], env });
      const variables = Object.entries(env).map(([name, text]) => `${name}=${text}`);
      expect(said.split('\0').slice(0, -1).sort()).toEqual(variables.sort());
    }
  });

  test('leaves nothing of the shell open', () => {
    const { said } = launched({ argv: ['/bin/ls', '/proc/self/fd'], stdin: 'null' });
    // Whoever runs the tests may have left others open; a shell takes low numbers.
    const low = said.split('\n').filter((fd) => fd !== '' && Number(fd) < 64);
    expect(low).toEqual(['0', '1', '2', '3']);
  });

  test('goes to the directory the kernel would go to', () => {
    using folder = new TestFolder();
    mkdirSync(join(folder.path, 'far/away'), { recursive: true });
    symlinkSync('far/away', join(folder.path, 'link'));
    const { said } = launched({ argv: ['/bin/pwd', '-P'], cwd: `${folder.path}/link/..` });
    expect(said).toBe(`${realpathSync(folder.path)}/far\n`);
  });

  test.each([
    ['a name no shell can set', { env: { 'odd.name': 'x' } }],
    ['a variable the shell acts on', { env: { OPTIND: 'x' } }],
    ['a PATH with a sign the shell acts on', { env: { PATH: '/usr/bin%func:/bin' } }],
    ['a program that looks like an option', { argv: ['-x'] }],
    ['more than a pipe takes', { argv: ['tool', 'x'.repeat(MAX_BYTES)] }],
  ])('cannot be %s', (_what, changes) => {
    expect(launchScript(order(changes), MAX_BYTES)).toBeNull();
  });
});

describe('a launch that fails', () => {
  test.each([
    ['a program that is not there', { argv: ['/no/such/tool'] }, 127],
    ['one that may not be executed', { argv: ['/etc/passwd'] }, 126],
    ['a directory that is not there', { argv: ['/bin/true'], cwd: '/no/such' }, 126],
  ])('is reported: %s', (_what, changes, status) => {
    expect(launched(changes)).toEqual({ said: '', report: `${LAUNCH_BEGUN}\n${LAUNCH_FAILED}\n`, status });
  });

  test('is not reported by a program that ends alike, whatever it writes to', () => {
    const imitation = `for fd in 3 4 5 6 7 8 9; do { echo ${LAUNCH_FAILED} >&$fd; } 2>/dev/null; done; exit 127`;
    const report = `${LAUNCH_BEGUN}\n`;
    expect(launched({ argv: ['/bin/sh', '-c', imitation] })).toEqual({ said: '', report, status: 127 });
  });

  test.each([
    ['there was never a shell', '', 'failed'],
    ['it has become the program', `${LAUNCH_BEGUN}\n`, 'ended'],
    ['it could not', `${LAUNCH_BEGUN}\n${LAUNCH_FAILED}\n`, 'failed'],
  ])('is told from one that succeeds by what came before the end: %s', (_what, said, expected) => {
    const { readEnd, writeEnd } = openPipe();
    const report = new LaunchReport(readEnd);
    expect(report.look()).toBe('underWay');
    writeSync(writeEnd, said);
    closeSync(writeEnd);
    expect(report.look()).toBe(expected);
  });

  test('counts as what was last reported when nobody looked in time', () => {
    const { readEnd, writeEnd } = openPipe();
    const report = new LaunchReport(readEnd);
    writeSync(writeEnd, `${LAUNCH_BEGUN}\n`);
    report.close();
    closeSync(writeEnd);
    expect(report.look()).toBe('ended');
  });
});
