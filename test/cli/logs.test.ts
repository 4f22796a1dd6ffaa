import { describe, expect, test } from 'vitest';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { parseSince } from '../../src/cli/options/option-values.js';
import { TestFolder } from '../harness/processes.js';

async function detached(url: string, ...args: string[]): Promise<string> {
  const { code, stdout } = await execwire(['run', '-e', url, '--detach', ...args]);
  expect(code).toBe(0);
  return stdout.trim();
}

describe('logs --grep', () => {
  test('prints lines that match, also of the server before', { timeout: 90_000 }, async () => {
    using folder = new TestFolder();
    const start = () => ServerProcess.start({ args: ['--spool', folder.file('spool')] });
    let id: string;
    {
      await using server = await start();
      const e = ['-e', server.url];
      const script = 'seq 1 300000; printf "\\033[31mred\\033[0m \\033]0;title\\007end"';
      id = await detached(server.url, '--', 'sh', '-c', script);
      expect((await execwire(['wait', ...e, id])).code).toBe(0);
      const bad = await detached(server.url, '--', 'sh', '-c', 'echo "Error: bad (x)" >&2');
      expect((await execwire(['wait', ...e, bad])).code).toBe(0);
      const logs = (...args: string[]) => execwire(['logs', ...e, ...args]);
      expect(await logs(id.slice(0, 5), '--grep', '^1234.5$')).toEqual({
        code: 0,
        stdout: Array.from({ length: 10 }, (_, index) => `1234${index}5\n`).join(''),
        stderr: '',
      });
      expect(await logs(bad, '--grep', 'ERROR', '-i', '-n')).toMatchObject({
        stderr: '1:Error: bad (x)\n',
      });
      expect(await logs(bad, '--grep', '(x)', '-F')).toMatchObject({ stderr: 'Error: bad (x)\n' });
      expect(await logs(bad, '--grep', '(x)')).toMatchObject({ stderr: 'Error: bad (x)\n' });
      expect(await logs(id, '--grep', '99999$', '--tail', '2')).toMatchObject({ stdout: '199999\n299999\n' });
      expect(await logs(id, '--grep', '^red end')).toMatchObject({ stdout: '\u001b[31mred\u001b[0m end\n' });
      expect(await logs(id, '--grep', '^red end', '--raw')).toMatchObject({
        stdout: '\u001b[31mred\u001b[0m \u001b]0;title\u0007end\n',
      });
      expect(await logs(id, '--grep', '^red', '--since', '1h')).toMatchObject({ stderr: '' });
      expect(await logs(id, '--grep', 'red', '--since', '2900-01-01')).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      expect(await logs(id, '--since', '2900-01-01')).toEqual({ code: 0, stdout: '', stderr: '' });
      expect((await logs(id, '--since', '1h', '--tail', '1')).stdout).toBe('\u001b[31mred\u001b[0m end');
    }
    await using next = await start();
    const again = await execwire(['logs', '-e', next.url, id, '--grep', '^29999', '-n']);
    expect(again.stdout).toBe(
      `29999:29999\n${Array.from({ length: 10 }, (_, index) => `29999${index}:29999${index}\n`).join('')}`,
    );
    const unknown = await execwire(['logs', '-e', next.url, 'nobody', '--grep', 'x']);
    expect(unknown).toEqual({
      code: 1,
      stdout: '',
      stderr: 'execwire: No kept process "nobody" is known on that server.\n',
    });
  });

  test('follows a program, line by line', { timeout: 60_000 }, async () => {
    await using server = await ServerProcess.start();
    const id = await detached(server.url, '--keep-stdin', '--', 'cat');
    const { stdin } = new CommandLine(['attach', '-e', server.url, id]).child;
    stdin.write('hit one\nmiss\n');
    const following = new CommandLine(['logs', '-e', server.url, id, '-f', '--grep', 'hit']);
    await following.says('hit one\n');
    stdin.write('a hit, ');
    stdin.write('late\nmiss\nlast hit');
    await following.says('a hit, late\n');
    stdin.end();
    expect(await following.result()).toEqual({
      code: 0,
      stdout: 'hit one\na hit, late\nlast hit\n',
      stderr: '',
    });
    // It has ended, and whoever comes now is told so.
    expect((await execwire(['wait', '-e', server.url, id])).code).toBe(0);
    const all = 'hit one\nmiss\na hit, late\nmiss\nlast hit';
    for (const options of [[], ['-f'], ['-f', '--tail', '9']])
      expect(await execwire(['logs', '-e', server.url, id, ...options])).toEqual({
        code: 0,
        stdout: all,
        stderr: '',
      });
    expect(await execwire(['attach', '-e', server.url, id])).toMatchObject({ code: 0, stdout: all });
  });

  test('says what it needs', { timeout: 60_000 }, async () => {
    await using server = await ServerProcess.start();
    const id = await detached(server.url, '--', 'true');
    const logs = (...args: string[]) => execwire(['logs', '-e', server.url, id, ...args]);
    expect(await logs('--grep', '(')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/pattern cannot be used/),
    });
    expect(await logs('-i')).toMatchObject({ code: 2, stderr: expect.stringMatching(/--grep/) });
    expect(await logs('--since', 'yesterday')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/10m/),
    });
  });
});

test('times before now, and times', () => {
  expect(parseSince('10m')).toBe(-600_000);
  expect(parseSince('2d')).toBe(-172_800_000);
  expect(parseSince('2026-11-16T12:00:00Z')).toBe(Date.UTC(2026, 10, 16, 12));
});
