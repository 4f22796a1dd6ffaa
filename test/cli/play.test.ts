// Needs: tmux
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { TestFolder } from '../harness/processes.js';
import { Tmux } from '../harness/tmux.js';

const HEADER = '{"version":2,"width":60,"height":10}';

function castFile(folder: TestFolder, ...events: [number, string, string][]): string {
  const file = folder.file('a.cast');
  writeFileSync(file, [HEADER, ...events.map((event) => JSON.stringify(event))].join('\n'));
  return file;
}

/** Plays in a shell, which tells afterwards how it ended and whether the terminal is in its usual mode. */
function playing(...args: string[]): Tmux {
  const command = [process.execPath, bin, 'play', ...args].map((word) => `'${word}'`).join(' ');
  const after =
    'echo "left $?"; stty -a | tr " ;" "\\n\\n" | grep -xE "icanon|echo" | tr "\\n" " "; echo; cat';
  return new Tmux(`echo before; stty -a > /dev/null; ${command}; ${after}`, { rows: 14, cols: 64 });
}

describe('logs --format', () => {
  test('makes a recording of a kept process, on this server and the next', { timeout: 90_000 }, async () => {
    using folder = new TestFolder();
    const begin = (): Promise<ServerProcess> =>
      ServerProcess.start({ args: ['--spool', folder.file('spool')] });
    const script = 'printf "\\033[31mred\\033[0m <b>\\n"; sleep 0.2; echo two; exit 3';
    let id: string;
    const recordings: string[] = [];
    {
      await using server = await begin();
      const started = await execwire(['run', '-e', server.url, '--detach', '-t', '--', 'sh', '-c', script]);
      id = started.stdout.trim();
      await execwire(['wait', '-e', server.url, id]);
      for (const format of ['asciicast-v3', 'text', 'html', 'svg']) {
        const { code, stdout, stderr } = await execwire(['logs', '-e', server.url, '--format', format, id]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        recordings.push(stdout);
      }
    }
    const [cast = '', text, html, svg] = recordings;
    const events = cast
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as [number, string, string]);
    expect(events.map(([, code, data]) => [code, data])).toEqual([
      ['o', '\u001b[31mred\u001b[0m <b>\r\n'],
      ['o', 'two\r\n'],
      ['x', '3'],
    ]);
    expect((events[0]?.[0] ?? 0) + (events[1]?.[0] ?? 0)).toBeGreaterThanOrEqual(0.2);
    expect(text).toBe('red <b>\ntwo\n');
    expect(html).toContain('>red</span> &lt;b&gt;\ntwo\n');
    expect(svg).toContain('>red</text>');

    await using next = await begin();
    const again = await execwire(['logs', '-e', next.url, '--format', 'asciicast-v3', id]);
    expect(again).toEqual({ code: 0, stdout: cast, stderr: '' });
    expect(await execwire(['logs', '-e', next.url, '--format', 'text', 'nobody'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'execwire: No kept process "nobody" is known on that server.\n',
    });
    const played = await execwire(['play', '-e', next.url, id]);
    expect(played).toEqual({ code: 0, stdout: 'red <b>\ntwo\n', stderr: '' });
  });

  test('without a spool, it says what is missing', { timeout: 60_000 }, async () => {
    await using server = await ServerProcess.start({ args: ['--spool', 'off'] });
    const { stdout } = await execwire(['run', '-e', server.url, '--detach', '--', 'echo', 'one']);
    const { code, stderr } = await execwire(['logs', '-e', server.url, '--format', 'text', stdout.trim()]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('a history of what processes print') as unknown,
    });
  });

  test('stops quietly when nobody reads any more', { timeout: 60_000 }, async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start({ args: ['--spool', folder.file('spool')] });
    const { stdout } = await execwire(['run', '-e', server.url, '--detach', '--', 'seq', '3000000']);
    await execwire(['wait', '-e', server.url, stdout.trim()]);
    const logs = [process.execPath, bin, 'logs', '-e', server.url, '--format', 'text', stdout.trim()];
    const pipe = `${logs.map((word) => `'${word}'`).join(' ')} 2>'${folder.file('stderr')}' | head -n 2; echo "\${PIPESTATUS[0]}"`;
    const local = await execwire(['run', '--', 'bash', '-c', pipe]);
    expect(local.stdout).toBe('1\n2\n141\n');
    expect(readFileSync(folder.file('stderr'), 'utf8')).toBe('');
  });
});

describe('play', () => {
  test('pauses, steps, goes on, and leaves the terminal as it was', { timeout: 60_000 }, async () => {
    using folder = new TestFolder();
    const file = castFile(
      folder,
      [0.1, 'o', 'one\r\n'],
      [600, 'o', '\u001b[31mtwo\u001b[0m\r\n'],
      [1200, 'o', 'three\r\n'],
      [1200.1, 'o', '\u001b[?25l\u001b[?1049h\u001b[?7l\u001b[Hfour'],
    );
    using tmux = playing(file);
    await tmux.showsLine('one');
    // It would take ten minutes each.
    tmux.type(' .');
    expect(await tmux.showsLine('two')).not.toContain('three');
    tmux.type('.');
    await tmux.showsLine('three');
    tmux.type(' ');
    // A program that had the whole screen is the last thing to be seen.
    const screen = await tmux.showsLine('icanon echo');
    expect(screen.slice(0, 3)).toEqual(['before', 'four', 'left 0']);
  });

  test.each(['q', 'C-c'])('%s leaves', { timeout: 60_000 }, async (key) => {
    using folder = new TestFolder();
    using tmux = playing(castFile(folder, [0.1, 'o', 'one\r\n'], [600, 'o', 'two\r\n']));
    await tmux.showsLine('one');
    tmux.press(key);
    expect((await tmux.showsLine('icanon echo')).slice(0, 2)).toEqual(['before', 'left 0']);
  });

  test('a player that is killed leaves the terminal as it was', { timeout: 60_000 }, async () => {
    using folder = new TestFolder();
    const file = castFile(folder, [0.1, 'o', '\u001b[?25lone\r\n'], [600, 'o', 'two\r\n']);
    const command = `sh -c 'echo $$ > ${folder.file('pid')}; exec ${process.execPath} ${bin} play ${file}'`;
    using tmux = new Tmux(
      `echo before; ${command}; echo "left $?"; stty -a | tr " ;" "\\n\\n" | grep -xE "icanon|echo" | tr "\\n" " "; echo; cat`,
      { rows: 14, cols: 64 },
    );
    await tmux.showsLine('one');
    signalOne(Number(readFileSync(folder.file('pid'), 'utf8')), 'SIGTERM');
    const screen = await tmux.showsLine('icanon echo');
    expect(screen.slice(0, 2)).toEqual(['before', 'left 143']);
  });

  test('says when the terminal is too small, and what is wrong with a file', {
    timeout: 60_000,
  }, async () => {
    using folder = new TestFolder();
    const large = folder.file('large.cast');
    writeFileSync(large, '{"version":3,"term":{"cols":200,"rows":50}}\n[0,"o","one"]\n');
    using tmux = playing(large);
    const said = 'execwire: recorded on 200x50, this terminal is 64x14: the rest i';
    expect(await tmux.showsLine('icanon echo')).toContain(said);
    const damaged = castFile(folder, [0, 'o', 'one']);
    writeFileSync(damaged, `${HEADER}\n[0,"o","one"]\n[1,"o","tw`);
    expect(await execwire(['play', damaged])).toMatchObject({
      code: 1,
      stderr: 'execwire: The recording cannot be played: line 3 is not an event: [time, "o", "text"].\n',
    });
    expect(await execwire(['play', folder.file('nothing')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no file') as unknown,
    });
    expect((await execwire(['play', '--speed', '0', large])).code).toBe(2);
  });
});
