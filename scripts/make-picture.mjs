// Makes docs/images/terminal.svg, the moving picture in the README: these commands in a real shell, recorded.
//   npm run build && node scripts/make-picture.mjs
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LocalEnvironment } from '../dist/index.js';
import { historyCues, render } from '../dist/recording/index.js';

/** Between two keys, and to read what a command printed. */
const KEY_MS = 40;
const READING_MS = 1_500;
/** What bash writes before it asks for a command: switches on bracketed paste. */
const PROMPT = '\u001b[?2004h$ ';
const SIZE = { rows: 22, cols: 90 };

const COMMANDS = [
  `execwire run box -- sh -c 'echo hello from $(uname); exit 3'; echo exit code $?`,
  'execwire run --sandbox read-only box -- rm -r project',
  'execwire run --hold -w project box -- sed -i s/helo/hello/ greeting.txt',
  'execwire changes diff -e box',
  'execwire changes apply -e box',
  'id=$(execwire run --detach -w project box -- ./build)',
  'execwire logs -e box -f $id',
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = mkdtempSync(join(tmpdir(), 'demo-'));
const file = (...names) => join(home, ...names);
try {
  mkdirSync(file('project'));
  mkdirSync(file('bin'));
  symlinkSync(join(root, 'bin', 'execwire.js'), file('bin', 'execwire'));
  writeFileSync(file('project', 'greeting.txt'), 'helo world\n');
  writeFileSync(
    file('project', 'build'),
    '#!/bin/sh\nfor n in 1 2 3; do echo "building $n of 3"; sleep 1; done\n',
  );
  chmodSync(file('project', 'build'), 0o755);
  // What the server finds is that of nobody in particular.
  for (const name of Object.keys(process.env)) if (/^(XDG|EXECWIRE)_/.test(name)) delete process.env[name];
  Object.assign(process.env, {
    HOME: home,
    EXECWIRE_HOME: home,
    PATH: `${file('bin')}${delimiter}${process.env['PATH']}`,
  });
  process.chdir(home);
  const machine = new LocalEnvironment({ spool: { directory: file('spool') } });
  await serveBox(machine);
  writeFileSync(join(root, 'docs', 'images', 'terminal.svg'), await record(machine));
  await machine.close();
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Starts a server, and gives it the name `box`. */
async function serveBox(machine) {
  const server = await machine.start({ argv: ['execwire', 'serve', '--log-level', 'silent'] });
  for await (const line of server.lines()) {
    writeFileSync(file('environments.toml'), `[[environments]]\nid = "box"\nurl = "${line}"\n`);
    return;
  }
}

/** Types the commands into a shell, one after the other. */
async function record(machine) {
  const shell = await machine.start({
    argv: ['bash', '--norc', '--noprofile', '-i'],
    env: { PS1: '$ ', TERM: 'xterm-256color' },
    tty: true,
    size: SIZE,
    retain: 'disk',
  });
  const shown = screenOf(shell);
  await shown.prompt(1);
  for (const [index, command] of COMMANDS.entries()) {
    for (const key of command) {
      await shell.write(key);
      await delay(KEY_MS);
    }
    await shell.write('\r');
    await shown.prompt(index + 2);
    await delay(READING_MS);
  }
  await shell.terminate();
  await shell.wait();
  let picture = '';
  for await (const piece of render(historyCues(shell.history()), 'svg-animated')) picture += piece;
  return picture;
}

/** Waits for the shell to ask for a command the nth time. */
function screenOf(shell) {
  let text = '';
  let look = () => {};
  void (async () => {
    for await (const event of shell.events()) {
      if (event.type === 'output') text += Buffer.from(event.bytes).toString();
      look();
    }
  })();
  return {
    prompt: (times) =>
      new Promise((resolve) => {
        look = () => {
          if (text.split(PROMPT).length > times) resolve(undefined);
        };
        look();
      }),
  };
}
