// Needs: less
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { Tmux } from '../harness/tmux.js';

const SIZE = { rows: 12, cols: 60 };

function command(name: string, url: string, id: string): string {
  return `unset NODE_EXTRA_CA_CERTS; ${process.execPath} ${bin} ${name} -e ${url} ${id}; echo "left with $?"; sleep 1000`;
}

test('one types, another watches on a smaller terminal and leaves without a trace', {
  timeout: 90_000,
}, async () => {
  using folder = new TestFolder();
  const lines = Array.from({ length: 50 }, (_, number) => `line ${number + 1} ${'.'.repeat(40)}|`);
  writeFileSync(folder.file('text'), `${lines.join('\n')}\n`);
  await using server = await ServerProcess.start();
  const args = ['-t', '--env', 'TERM=xterm-256color', '--env', 'LESS=', '--', 'less', folder.file('text')];
  const run = await execwire(['run', '-e', server.url, '--detach', ...args]);
  const id = run.stdout.trim();
  using typist = new Tmux(command('attach', server.url, id), SIZE);
  await typist.shows((screen) => screen[10]?.startsWith('line 11 ') === true);
  using watcher = new Tmux(command('watch', server.url, id), { rows: 14, cols: 30 });
  // Cut off on the right, and not as high as it could be: the program keeps the size it has.
  await watcher.shows((screen) => screen[10] === `line 11 ${'.'.repeat(22)}` && screen[12] === '');
  watcher.type('xyz 500G');
  await typist.pressUntil('Space', (screen) => screen[0]?.startsWith('line 12 ') === true);
  await watcher.shows((screen) => screen[0]?.startsWith('line 12 ') === true);
  typist.resize({ rows: 9, cols: 50 });
  await watcher.shows(
    (screen) => screen[0]?.startsWith('line 12 ') === true && screen[8]?.startsWith(':') === true,
  );
  watcher.press('q');
  await watcher.showsLine('left with 0');
  await typist.pressUntil('q', (screen) => screen.includes('left with 0'));
});

test('into a pipe, watching prints what the process prints', { timeout: 90_000 }, async () => {
  await using server = await ServerProcess.start();
  const script = 'echo one; echo two';
  const run = await execwire(['run', '-e', server.url, '--detach', '--', 'sh', '-c', script]);
  const watched = await execwire(['watch', '-e', server.url, run.stdout.trim()]);
  expect(watched).toEqual({ code: 0, stdout: 'one\ntwo\n', stderr: '' });
});

test('share prints a token that watches and does nothing else, until it is revoked', {
  timeout: 90_000,
}, async () => {
  using folder = new TestFolder();
  await using server = await ServerProcess.start();
  const e = ['-e', server.url];
  const run = await execwire(['run', ...e, '--detach', '--', 'sh', '-c', 'echo seen; exec sleep 1000']);
  const id = run.stdout.trim();
  const { stdout: token, stderr } = await execwire(['share', ...e, id, '--for', '2h']);
  expect(stderr).toContain(`execwire watch -e ${server.url} --token-file FILE ${id}`);
  writeFileSync(folder.file('token'), token, { mode: 0o600 });
  const bearer = [...e, '--token-file', folder.file('token')];
  const watching = new CommandLine(['watch', ...bearer, id]);
  await watching.says('seen\n');
  expect(await execwire(['run', ...bearer, '--', 'true'])).toMatchObject({
    stderr: expect.stringContaining('share'),
  });
  expect((await execwire(['kill', ...bearer, id])).code).not.toBe(0);
  const { stdout: list } = await execwire(['share', ...e, '--list']);
  const [shareId = ''] = list.split('\n')[1]?.split(' ') ?? [];
  expect(stderr).toContain(`--revoke ${shareId}\n`);
  expect((await execwire(['share', ...e, '--revoke', shareId])).code).toBe(0);
  const begun = performance.now();
  expect((await watching.result()).code).not.toBe(0);
  // Far less than it takes to give up a server that is only out of reach.
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect((await execwire(['watch', ...bearer, id])).stderr).toContain('401');
});

test('two terminals: whoever types has the keyboard, and the program its size', {
  timeout: 90_000,
}, async () => {
  await using server = await ServerProcess.start();
  const run = await execwire(['run', '-e', server.url, '--detach', '-t', '--env', 'PS1=ready> ', '--', 'sh']);
  const id = run.stdout.trim();
  using one = new Tmux(command('attach', server.url, id), SIZE);
  await one.showsLine('ready>');
  using two = new Tmux(command('attach', server.url, id), { rows: 10, cols: 50 });
  await two.showsLine('ready>');
  const ask = async (tmux: Tmux, size: string): Promise<void> => {
    tmux.type('stty size');
    tmux.press('Enter');
    await tmux.showsLine(size);
  };
  await ask(two, '10 50');
  await ask(one, '12 60');
  await ask(two, '10 50');
});
