// Needs: less
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { gone, TestFolder } from '../harness/processes.js';
import { Tmux } from '../harness/tmux.js';
import { HarmlessText } from '../../src/cli/terminal/harmless-text.js';

async function detached(url: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await execwire(['run', '-e', url, '--detach', ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[a-z2-9]{6}\n$/);
  return stdout.trim();
}

describe('run --detach', () => {
  // Ten commands one after the other, each of them a program of its own.
  test('prints an id; logs, wait, ps and kill take it or its beginning', { timeout: 90_000 }, async () => {
    const mark = `mark-detached-${process.pid}-${Date.now()}`;
    await using server = await ServerProcess.start();
    const e = ['-e', server.url];
    const done = await detached(server.url, '--', 'sh', '-c', 'echo one; echo two; echo bad >&2; exit 3');
    expect((await execwire(['wait', ...e, done])).code).toBe(3);
    expect(await execwire(['logs', ...e, done.slice(0, 5)])).toEqual({
      code: 0,
      stdout: 'one\ntwo\n',
      stderr: 'bad\n',
    });
    expect((await execwire(['attach', ...e, '--no-stdin', done])).code).toBe(3);

    const running = await detached(server.url, '--lease', '10m', '--', 'sh', '-c', 'sleep 1000; :', mark);
    const { stdout } = await execwire(['ps', ...e]);
    expect(stdout).toMatch(new RegExp(`^${running} +kept +\\d+ +\\d+s +running, lease 10m0s +sh`, 'm'));
    expect(await execwire(['kill', ...e, running.slice(0, 5)])).toMatchObject({ code: 0, stderr: '' });
    await gone(mark);
    expect((await execwire(['wait', ...e, running])).code).toBe(143);
    expect(await execwire(['logs', ...e, 'nobody'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'execwire: No kept process "nobody" is known on that server.\n',
    });
  });

  test('leaves all its output on disk, for the next server as well', { timeout: 90_000 }, async () => {
    using folder = new TestFolder();
    const start = () => ServerProcess.start({ args: ['--spool', folder.file('spool')] });
    const lines = Array.from({ length: 400_000 }, (_, index) => `line ${index + 1}\n`).join('');
    let id: string;
    {
      await using server = await start();
      id = await detached(server.url, '--', 'sh', '-c', 'seq -f "line %.0f" 400000; exit 4');
      expect((await execwire(['wait', '-e', server.url, id])).code).toBe(4);
      // More than memory keeps.
      expect(await execwire(['logs', '-e', server.url, id])).toEqual({ code: 0, stdout: lines, stderr: '' });
    }
    await using next = await start();
    expect(await execwire(['logs', '-e', next.url, id])).toEqual({ code: 0, stdout: lines, stderr: '' });
    const last = await execwire(['logs', '-e', next.url, '--tail', '2', id]);
    expect(last).toEqual({ code: 0, stdout: 'line 399999\nline 400000\n', stderr: '' });
  });

  test('a client that is killed leaves it as it was, and the next one goes on with it', async () => {
    await using server = await ServerProcess.start();
    const e = ['-e', server.url];
    const id = await detached(
      server.url,
      '--keep-stdin',
      '--',
      'sh',
      '-c',
      'while read l; do echo "got $l"; done',
    );
    const first = new CommandLine(['attach', ...e, id]);
    first.child.stdin.write('one\n');
    await first.says('got one\n');
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const second = new CommandLine(['attach', ...e, id]);
    second.child.stdin.end('two\n');
    expect(await second.result()).toMatchObject({ code: 0, stdout: 'got one\ngot two\n' });
  });

  test('needs a server, and says how to get one', async () => {
    for (const args of [
      ['run', '--detach', '--', 'true'],
      ['attach', 'x'],
      ['logs', 'x'],
      ['wait', 'x'],
    ]) {
      const { code, stderr } = await execwire(args);
      expect(code).not.toBe(0);
      expect(stderr).toContain('execwire serve');
    }
    expect((await execwire(['run', '--lease', '5m', '--', 'true'])).stderr).toContain('--detach');
  });
});

const SIZE = { rows: 12, cols: 60 };

describe('on a terminal', () => {
  test('shell --keep: the same name leads back to the same shell', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('.bashrc'), "PS1='ready> '\n");
    await using server = await ServerProcess.start();
    const shell = `${process.execPath} ${bin} shell -e ${server.url} --env HOME=${folder.path} --env 'PS1=ready> ' --keep main`;
    const script = `unset NODE_EXTRA_CA_CERTS; ${shell}; echo "left with $?"`;
    {
      using tmux = new Tmux(script, SIZE);
      await tmux.showsLine('ready>');
      tmux.type('kept=42');
      tmux.press('Enter');
      await tmux.shows((screen) => screen.filter((line) => line.startsWith('ready>')).length === 2);
      tmux.type('~.');
      const screen = await tmux.showsLine('left with 0');
      expect(screen.join(' ')).toContain('come back with: execwire');
    }
    using again = new Tmux(script, SIZE);
    await again.shows((screen) => screen.some((line) => line.startsWith('ready> kept=42')));
    again.type('echo "value $kept"; exit 5');
    again.press('Enter');
    await again.showsLine('value 42');
    await again.showsLine('left with 5');
  });

  test('a laptop that slept longer than its session finds its shell as it was', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('.bashrc'), 'PS1=ready\n');
    await using server = await ServerProcess.start({ args: ['--session-ttl', '1'] });
    await using proxy = await FaultProxy.to(server.url);
    const shell = `exec ${process.execPath} ${bin} shell -e ${proxy.url} --env HOME=${folder.path} --env PS1=ready --keep main`;
    // tmux wakes its own child by itself, so the client is one further down.
    const script = `unset NODE_EXTRA_CA_CERTS; sh -c 'echo $$ > ${folder.file('pid')}; ${shell}'; echo "left with $?"`;
    using tmux = new Tmux(script, SIZE);
    const client = Number(await folder.appears('pid'));
    await tmux.showsLine('ready');
    tmux.type('kept=42; echo awake');
    tmux.press('Enter');
    await tmux.showsLine('awake');
    signalOne(client, 'SIGSTOP');
    proxy.cut();
    await expect.poll(() => server.stderr).toContain('session expired');
    signalOne(client, 'SIGCONT');
    tmux.type('echo "value $kept"; exit 5');
    tmux.press('Enter');
    await tmux.showsLine('value 42');
    await tmux.showsLine('left with 5');
  });

  test('a full-screen program draws itself again, in the size of the new terminal', async () => {
    using folder = new TestFolder();
    const lines = Array.from({ length: 50 }, (_, number) => `line ${number + 1}`);
    writeFileSync(folder.file('text'), `${lines.join('\n')}\n`);
    await using server = await ServerProcess.start();
    const args = ['-t', '--env', 'TERM=xterm-256color', '--env', 'LESS=', '--', 'less', folder.file('text')];
    const id = await detached(server.url, ...args);
    const attach = `unset NODE_EXTRA_CA_CERTS; ${process.execPath} ${bin} attach -e ${server.url} ${id}; echo "left with $?"; sleep 1000`;
    {
      using tmux = new Tmux(attach, SIZE);
      await tmux.shows((screen) => screen[0] === 'line 1' && screen[10] === 'line 11');
      await tmux.pressUntil('Space', (screen) => screen[0] === 'line 12');
    }
    // The terminal was closed, and so was the client in it.
    using again = new Tmux(attach, { rows: 8, cols: 40 });
    await again.shows((screen) => screen[0] === 'line 12' && screen[6] === 'line 18');
    await again.pressUntil('q', (screen) => screen.includes('left with 0'));
  });
});

test('what is shown of a log cannot do anything to a terminal', () => {
  const dangerous =
    'a\u001b[6nb\u001b]52;c;aGk=\u0007c\u001b[31mred\u001b[0md\u001bPq\u001b\\e\u001b[2Jf\u001b(Bg\rh\u0007\u009bi\n\t';
  for (let size = 1; size < 12; size += 1) {
    const text = new HarmlessText();
    const bytes = Buffer.from(dangerous);
    let shown = '';
    for (let at = 0; at < bytes.length; at += size) shown += text.take(bytes.subarray(at, at + size));
    expect(shown).toBe('abc\u001b[31mred\u001b[0mdefghi\n\t');
  }
});
