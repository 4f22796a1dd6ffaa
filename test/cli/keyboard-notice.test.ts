// Needs: less, tmux
import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess } from '../../src/contract/index.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { Tmux } from '../harness/tmux.js';

const SIZE = { rows: 12, cols: 80 };
const NOTICE = '[execwire: somebody wants the keyboard; Enter, ~ and k hand it over]';

let server: ServerProcess;
let other: RemoteEnvironment;
beforeEach(async () => {
  server = await ServerProcess.start();
  other = await RemoteEnvironment.connect({
    id: 'other',
    dial: () => dialWebSocket(server.url),
    resume: true,
  });
});
afterEach(async () => {
  await other.close();
  await server.stop();
});

function terminal(...args: string[]): Tmux {
  const command = [process.execPath, bin, ...args].join(' ');
  return new Tmux(`unset NODE_EXTRA_CA_CERTS; ${command}; echo "left with $?"; sleep 1000`, SIZE);
}

async function asking(processId: string): Promise<ExecProcess> {
  const child = await other.attach(processId, { keyboard: 'none' });
  expect(await child.keyboard?.ask()).toBe(false);
  return child;
}

test('whoever types in a kept shell is told who asks, and hands the keyboard over', {
  timeout: 90_000,
}, async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('.bashrc'), "PS1='ready> '\n");
  const variables = ['--env', `HOME=${folder.path}`, '--env', "'PS1=ready> '"];
  using typist = terminal('shell', '-e', server.url, ...variables, '--keep', 'main');
  await typist.showsLine('ready>');
  const child = await asking('main');
  await typist.shows((screen) => screen[0] === 'ready>' && screen[1] === NOTICE);
  typist.type('echo on');
  await typist.shows((screen) => screen[0] === 'ready> echo on');
  typist.press('Enter');
  typist.type('~k');
  await expect.poll(() => child.keyboard?.holds).toBe(true);
  await child.write('echo by another\r');
  await typist.shows((screen) => screen.includes('by another') && !screen.includes(NOTICE));
  // Typing takes it back.
  typist.type('exit 7');
  typist.press('Enter');
  await typist.showsLine('left with 7');
});

test('a full-screen program lends its last line, and gets it back as it was', {
  timeout: 90_000,
}, async () => {
  using folder = new TestFolder();
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);
  writeFileSync(folder.file('text'), `${lines.join('\n')}\n`);
  const started = await other.start({
    argv: ['less', folder.file('text')],
    env: { TERM: 'xterm-256color', LESS: '' },
    tty: true,
    lease: 'kept',
    processId: 'p',
  });
  await started.detach();
  using typist = terminal('attach', '-e', server.url, 'p');
  await typist.shows((screen) => screen[10] === 'line 11');
  const child = await asking('p');
  await typist.shows((screen) => screen[11] === NOTICE && screen[10] === 'line 11');
  typist.press('Enter');
  await typist.shows((screen) => screen[10] === 'line 12');
  typist.type('~k');
  await expect.poll(() => child.keyboard?.holds).toBe(true);
  await typist.shows((screen) => screen[11]?.startsWith(':') === true && screen[0] === 'line 2');
  await typist.pressUntil('q', (screen) => screen.includes('left with 0'));
});

test('who leaves is told the name of the process, and a name does nothing else', {
  timeout: 90_000,
}, async () => {
  const processId = 'p\u001b[31mx';
  await other.start({ argv: ['cat'], tty: true, lease: 'kept', processId });
  using typist = terminal('attach', '-e', server.url, 'p');
  typist.type('seen');
  await typist.showsLine('seen');
  typist.press('Enter');
  typist.type('~.');
  await typist.shows((screen) =>
    screen.some((line) => line.startsWith('execwire: p\ufffd[31mx keeps running')),
  );
});
