import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { gone, TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { Tmux } from '../harness/tmux.js';

const SIZE = { rows: 24, cols: 80 };
const PROMPT = 'far>';

/** A shell on a server, in a real terminal; how it ended is the last thing on the screen. */
async function openShell(url: string, folder: TestFolder): Promise<Tmux> {
  writeFileSync(folder.file('.bashrc'), `PS1='${PROMPT} '\n`);
  const set = [`HOME=${folder.path}`, `PS1=${PROMPT} `, 'LESS='].map((each) => `--env '${each}'`).join(' ');
  const shell = `${process.execPath} ${bin} shell -e ${url} ${set} --cwd ${folder.path}`;
  const tmux = new Tmux(`unset NODE_EXTRA_CA_CERTS; clear; ${shell}; echo "left with $?"`, SIZE);
  await tmux.showsLine(PROMPT);
  return tmux;
}

const LOST = '[execwire: connection lost, reconnecting…]';
const BACK = '[execwire: back]';

/** The last line that is not empty is an empty prompt. */
function atPrompt(screen: string[]): boolean {
  return screen.findLast((line) => line !== '') === PROMPT;
}

function run(tmux: Tmux, command: string): void {
  tmux.type(command);
  tmux.press('Enter');
}

describe('shell', () => {
  test('prompt, size, Ctrl-C, full screen and exit code are as in a local terminal', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    using tmux = await openShell(server.url, folder);

    run(tmux, 'stty size; echo $TERM');
    await tmux.showsLine('24 80');
    await tmux.shows((screen) => screen.some((line) => /^(screen|tmux)/.test(line)));
    tmux.resize({ rows: 30, cols: 100 });
    run(tmux, 'until [ "$(stty size)" = \'30 100\' ]; do sleep 0.05; done; stty size');
    await tmux.showsLine('30 100');

    // The job itself says that it runs: a key pressed while the shell hands the terminal over may reach the shell alone.
    run(tmux, "sh -c 'echo begun; exec sleep 1000'");
    await tmux.showsLine('begun');
    tmux.press('C-c');
    await tmux.shows(atPrompt);
    run(tmux, 'echo "ended by $?"');
    await tmux.showsLine('ended by 130');

    run(tmux, 'seq 1 500 > numbers; clear; less numbers');
    await tmux.shows(([first]) => first === '1');
    tmux.press('G');
    await tmux.shows((screen) => screen[0] === '472' && screen.includes('500'));
    tmux.press('q');
    await tmux.shows(([first]) => first === PROMPT);

    run(tmux, 'exit 3');
    await tmux.showsLine('left with 3');
  });

  test('a cut in the middle is a pause: nothing is lost, nothing is typed twice', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    using tmux = await openShell(proxy.url, folder);

    const waits = 'until [ -e go ]; do sleep 0.05; done';
    run(tmux, `clear; echo waiting; ${waits}; seq 1 10; read line; echo "<$line>"`);
    await tmux.showsLine('waiting');
    proxy.cut();
    writeFileSync(folder.file('go'), 'go');
    run(tmux, 'typed while away');
    const screen = await tmux.showsLine('<typed while away>');
    const numbers = screen.filter((line) => /^\d+$/.test(line));
    expect(numbers).toEqual(Array.from({ length: 10 }, (_, index) => String(index + 1)));
    expect(screen.filter((line) => line.startsWith('<'))).toHaveLength(1);
  });

  test('a longer break is told on a line of its own, and then that it is over', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    using tmux = await openShell(proxy.url, folder);
    // At the top of an empty screen, then at the bottom of a full one: the prompt stays as it is, cursor included.
    // What is typed before the shell is there to read it would be gone with the old screen: not every shell draws it anew.
    for (const [fill, last] of [
      ['clear; echo empty', 'empty'],
      ['seq 1 100', '100'],
    ] as const) {
      run(tmux, fill);
      await tmux.shows((screen) => atPrompt(screen) && screen.includes(last));
      tmux.type('echo st');
      await tmux.showsLine(`${PROMPT} echo st`);
      const [column] = tmux.cursor;
      proxy.interrupt();
      const lost = await tmux.showsLine(LOST);
      const line = lost.indexOf(`${PROMPT} echo st`);
      expect(lost.indexOf(LOST)).toBe(line + 1);
      expect(tmux.cursor).toEqual([column, line]);
      proxy.restore();
      await tmux.showsLine(BACK);
      run(tmux, 'ill here');
      const after = await tmux.showsLine('still here');
      expect(after.filter((text) => text.includes('execwire'))).toEqual([]);
      expect(after).toContain(`${PROMPT} echo still here`);
    }
  });

  test('a full-screen program lends its last line, and gets it back', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    using tmux = await openShell(proxy.url, folder);
    run(tmux, 'seq 1 500 > numbers; clear; less numbers');
    const before = await tmux.shows((screen) => screen[0] === '1' && screen[23] === 'numbers');
    proxy.interrupt();
    await tmux.shows((screen) => screen[23] === LOST);
    expect(tmux.screen.slice(0, 23)).toEqual(before.slice(0, 23));
    proxy.restore();
    await tmux.shows((screen) => screen[23] === BACK);
    // The program draws itself twice now, for two changes of size.
    await tmux.pressUntil(
      'G',
      (screen) => screen[22] === '500' && !screen.some((line) => line.includes('execwire')),
    );
    await tmux.pressUntil('q', (screen) => screen.some((line) => line.startsWith(PROMPT)));
  });

  test('Enter, ~ and . leaves a machine out of reach, and puts the screen in order', async () => {
    using folder = new TestFolder();
    const mark = `mark-shell-${process.pid}-${Date.now()}`;
    await using server = await ServerProcess.start({ args: ['--session-ttl', '1'] });
    const proxy = await FaultProxy.to(server.url);
    using tmux = await openShell(proxy.url, folder);
    run(tmux, `sh -c 'sleep 1000; :' ${mark} & seq 1 500 | less`);
    await tmux.shows(([first]) => first === '1');
    await proxy[Symbol.asyncDispose]();
    tmux.press('Enter');
    tmux.type('~.');
    await tmux.showsLine('left with 125');
    expect(tmux.screen).not.toContain('2');
    await gone(mark);
  });
});
