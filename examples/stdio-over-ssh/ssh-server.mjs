// A real sshd for one user, with keys and configuration of its own, on a free port of loopback.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Starts sshd with its files in a folder. `clientArgs` are what `ssh` needs to log in; `stop` ends it. Whoever keeps
 * track of children brings a `start` of their own.
 * @param {string} folder
 * @param {{ start?: (argv: readonly string[], options: import('node:child_process').SpawnOptions) => import('node:child_process').ChildProcess }} [options]
 */
export async function startSshServer(
  folder,
  { start = ([program = '', ...args], options) => spawn(program, args, options) } = {},
) {
  const at = (name) => join(folder, name);
  for (const key of ['host', 'user']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  }
  copyFileSync(at('user.pub'), at('authorized_keys'));
  // Where sshd confines itself when it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  writeFileSync(
    at('sshd_config'),
    [
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('authorized_keys')}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'Subsystem sftp internal-sftp',
      // A home of its own: what the user's shell does at start-up is not part of the story.
      `SetEnv HOME=${folder}`,
    ].join('\n'),
  );
  const { sshd, exited, port } = await startListening((chosen) =>
    start(['/usr/sbin/sshd', '-D', '-e', '-f', at('sshd_config'), '-p', chosen], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  return {
    clientArgs: [
      ...['-F', 'none', '-p', port, '-i', at('user')],
      ...['IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=no', 'LogLevel=ERROR'].flatMap(
        (each) => ['-o', each],
      ),
      ...['-o', `UserKnownHostsFile=${at('known_hosts')}`],
      `${userInfo().username}@127.0.0.1`,
    ],
    stop: async () => {
      sshd.kill();
      await exited;
    },
  };
}

/** sshd cannot choose a port itself, and one that was free a moment ago may be taken by the time it starts. */
async function startListening(start, attempts = 5) {
  const port = await freePort();
  const sshd = start(port);
  const exited = once(sshd, 'exit');
  try {
    await listening(sshd, exited);
    return { sshd, exited, port };
  } catch (error) {
    if (attempts === 1) throw error;
    return await startListening(start, attempts - 1);
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return String(port);
}

/** Resolves when sshd says that it listens; rejects with what it said if it ends instead. */
function listening(sshd, exited) {
  return new Promise((resolve, reject) => {
    const said = [];
    createInterface({ input: sshd.stderr }).on('line', (line) => {
      if (said.push(line) && line.startsWith('Server listening')) resolve(undefined);
    });
    exited.then(() => reject(new Error(`sshd did not start: ${said.join('; ')}`)), reject);
  });
}
