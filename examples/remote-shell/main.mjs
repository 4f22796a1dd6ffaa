// A shell on a terminal of another machine, here played by a server on this one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openEnvironment } from 'execwire';
import { Screen } from './screen.mjs';

const bin = fileURLToPath(new URL('bin/execwire.js', import.meta.resolve('execwire/package.json')));
const server = spawn(
  process.execPath,
  [bin, 'serve', '--listen', 'ws://127.0.0.1:0', '--log-level', 'silent'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  // The first line on stdout is the address, once the server is ready.
  const [url] = await once(createInterface({ input: server.stdout }), 'line');
  const env = await openEnvironment(url);
  try {
    const shell = await env.start({
      argv: ['sh'],
      tty: true,
      size: { rows: 24, cols: 80 },
      env: { PS1: '> ' },
    });
    const screen = new Screen(shell);

    await shell.write('echo "$((6 * 7)) is the answer"\n');
    await screen.shows('42 is the answer');

    await shell.resize({ rows: 40, cols: 132 });
    await shell.write('stty size\n');
    await screen.shows('40 132');

    // Ctrl-C is a key like any other: the terminal makes a signal of it.
    // The job itself says that it runs: a key typed while the shell is still handing the
    // terminal over reaches the shell alone. (The empty quotes tell what was typed from
    // what was printed.)
    await shell.write('sh -c \'echo be""gun; exec sleep 1000\'; echo not"" reached\n');
    await screen.shows('begun');
    await shell.write('\u0003');
    await shell.write('echo "ended with $?"\n');
    await screen.shows('ended with 130');

    await shell.write('exit 5\n');
    assert.deepEqual(await shell.wait(), { kind: 'exited', exitCode: 5 });
    assert.ok(!screen.text.includes('not reached'));
  } finally {
    await env.close();
  }
} finally {
  server.kill();
  await once(server, 'exit');
}
console.log('remote-shell: ok');
