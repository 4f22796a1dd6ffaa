// A machine reached through ssh: nothing listens there, ssh itself carries the protocol. The ssh server is a real one,
// started on loopback for this example; a killed ssh client must leave nothing running on the far side.
// Needs: ssh, sshd, a login shell
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEnvironment } from 'execwire';
import { startSshServer } from './ssh-server.mjs';

const bin = fileURLToPath(new URL('bin/execwire.js', import.meta.resolve('execwire/package.json')));
const home = mkdtempSync(join(tmpdir(), 'execwire-ssh-'));
const ssh = await startSshServer(home);
try {
  // The way to the machine is configuration; programs only know its name.
  const args = [
    ...ssh.clientArgs,
    `exec '${process.execPath}' '${bin}' serve --listen stdio --log-level warn`,
  ];
  writeFileSync(
    join(home, 'environments.toml'),
    `[[environments]]\nid = "far"\nprogram = "ssh"\nargs = ${JSON.stringify(args)}\n`,
  );
  const variables = { ...process.env, EXECWIRE_HOME: home };

  const env = await openEnvironment('far', { variables });
  const child = await env.start({ argv: ['sh', '-c', 'echo "$SSH_CONNECTION"; exit 4'] });
  const [client, server] = [await child.text(), await child.wait()];
  assert.match(client, /^127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+$/m);
  assert.deepEqual(server, { kind: 'exited', exitCode: 4 });
  await env.close();

  // Cut it off in the middle: what ran there ends with the connection, children in other sessions included.
  const mark = `far-${process.pid}-${Date.now()}`;
  const lost = await openEnvironment('far', { variables });
  const script = `setsid sh -c 'sleep 1000; :' ${mark} & echo ready; sleep 1000`;
  const busy = await lost.start({ argv: ['sh', '-c', script, mark] });
  const events = busy.events();
  await events.next();
  assert.ok(withArgument(mark).length > 0);
  for (const pid of childrenNamed('ssh')) process.kill(pid, 'SIGKILL');
  assert.equal((await busy.wait()).kind, 'contactLost');
  assert.equal(lost.lost, true);
  await lost.close();
  for (const limit = Date.now() + 15_000; withArgument(mark).length > 0; await delay(20)) {
    assert.ok(Date.now() < limit, `still running on the far side: ${withArgument(mark).join()}`);
  }
} finally {
  await ssh.stop();
  rmSync(home, { recursive: true, force: true });
}
console.log('stdio-over-ssh: ok');

/** Our own direct children that run a program of this name. */
function childrenNamed(name) {
  return pids().filter((pid) => {
    const [, program, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(read(pid, 'stat')) ?? [];
    return program === name && Number(parent) === process.pid;
  });
}

/** Running processes with this word in their command line. */
function withArgument(word) {
  return pids().filter((pid) => read(pid, 'cmdline').split('\0').includes(word));
}

function pids() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
