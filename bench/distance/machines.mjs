import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSshServer } from '../../examples/stdio-over-ssh/ssh-server.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { createScratch } from '../lib/scratch.mjs';
import { bin, firstLine } from '../../testkit/launch.mjs';

const beside = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** Our server as two machines use it, where output is compressed if that is faster. */
export const COMPRESSING = 'execwire, compressing';

/** @typedef {{ port: number, pid?: number | undefined, stop: () => Promise<void> }} Machine */

/**
 * Everything that can be reached over a line, each a server on loopback: ours, codex's where there is one, sshd, and a bare
 * socket.
 * @param {{ codex: { path: string } | null }} found
 */
export async function startMachines({ codex }) {
  const node = process.execPath;
  const ownServer = [node, bin, 'serve', '--listen', 'ws://127.0.0.1:0'];
  /** @type {Record<string, Machine>} */
  const machines = {
    bare: await startServer([node, beside('bare-end.mjs')], 'pipe'),
    execwire: await startServer(ownServer),
    // Between programs on one machine, it does not compress by itself.
    [COMPRESSING]: await startServer([...ownServer, '--compression', 'always']),
  };
  if (codex) {
    const env = { ...process.env, CODEX_HOME: createScratch('codex') };
    machines.codex = await startServer(
      [codex.path, 'exec-server', '--listen', 'ws://127.0.0.1:0'],
      'ignore',
      env,
    );
  }
  const folder = createScratch('ssh');
  const ssh = await startSshServer(folder, { start: spawnTracked });
  machines.ssh = { port: Number(ssh.clientArgs[ssh.clientArgs.indexOf('-p') + 1]), stop: ssh.stop };
  return { machines, login: sshLogin(ssh.clientArgs), controlPath: join(folder, 'master') };
}

/** The options and the name ssh logs in with, without the port: that is the line's. @param {string[]} clientArgs */
function sshLogin(clientArgs) {
  const port = clientArgs.indexOf('-p');
  return {
    options: [...clientArgs.slice(0, port), ...clientArgs.slice(port + 2, -1)],
    name: clientArgs[clientArgs.length - 1],
  };
}

/**
 * @param {string[]} argv
 * @param {'ignore' | 'pipe'} [stdin]
 * @returns {Promise<Machine>}
 */
async function startServer(argv, stdin = 'ignore', env = process.env) {
  const child = spawnTracked(argv, { stdio: [stdin, 'pipe', 'ignore'], env });
  const line = await firstLine(child);
  return { port: Number(/\d+$/.exec(line)?.[0]), pid: child.pid, stop: () => endChild(child) };
}

/**
 * The near end of a line to each machine.
 * @param {Record<string, Machine>} machines
 * @param {import('./lines.mjs').Line} line
 */
export async function openLines(machines, { roundTripMs, mbitPerSecond }) {
  const ends = Object.entries(machines).map(async ([name, { port }]) => {
    const argv = [process.execPath, beside('line.mjs'), `${port}`, `${roundTripMs}`, `${mbitPerSecond}`];
    const child = spawnTracked(argv, { stdio: ['pipe', 'pipe', 'inherit'] });
    return /** @type {const} */ ([
      name,
      { port: Number(await firstLine(child)), stop: () => endChild(child) },
    ]);
  });
  return Object.fromEntries(await Promise.all(ends));
}
