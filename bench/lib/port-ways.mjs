import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bin, firstLine } from '../../testkit/launch.mjs';
import { startSshServer } from '../../examples/stdio-over-ssh/ssh-server.mjs';
import { endChild, spawnTracked } from './children.mjs';

/** The ways to a port of another machine, here all on loopback: nothing in between, `ssh -L`, and `execwire forward`. */
export async function openWays(target, serverUrl) {
  return [
    { name: 'bare socket', port: target, stop: async () => {} },
    await overSsh(target),
    await ours(target, serverUrl),
  ];
}

async function ours(target, url) {
  const argv = [process.execPath, bin, 'forward', '-e', url, `:${target}`];
  const child = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(await firstLine(child)) ?? [];
  return { name: 'execwire forward', port: Number(port), stop: () => endChild(child) };
}

async function overSsh(target) {
  const { port, stop } = await openSsh((here) => ['-L', `127.0.0.1:${here}:127.0.0.1:${target}`]);
  return { name: 'ssh -L', port, stop };
}

/** A proxy of ssh that speaks SOCKS. */
export async function openSshProxy() {
  return await openSsh((here) => ['-D', `127.0.0.1:${here}`]);
}

async function openSsh(forward) {
  const folder = mkdtempSync(join(tmpdir(), 'execwire-bench-ssh-'));
  const server = await startSshServer(folder);
  const port = await freePort();
  const options = ['-N', '-o', 'ExitOnForwardFailure=yes', ...forward(port)];
  const child = spawnTracked(['ssh', ...options, ...server.clientArgs], { stdio: 'ignore' });
  await accepts(port);
  const stop = async () => {
    await endChild(child);
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { port, stop };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** Resolves when somebody listens there. */
async function accepts(port) {
  const { connect } = await import('node:net');
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const outcome = await once(socket, 'connect').catch(() => null);
    socket.destroy();
    if (outcome) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
