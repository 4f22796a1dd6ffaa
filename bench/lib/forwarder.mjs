import { once } from 'node:events';
import { connect } from 'node:net';
import { firstLine } from '../../testkit/launch.mjs';
import { endChild, spawnTracked } from './children.mjs';
import { cpuSeconds } from './procfs.mjs';
import { requireAll } from './processes.mjs';
import { bareSource } from './sampler.mjs';

/** Bare Node between the program and this process: `stdout.pipe(socket)`, the least a server could do. */
export async function openForwarder({ name, argv, byteCount }) {
  const command = [process.execPath, bareSource('node-pipe.mjs'), ...argv];
  const child = spawnTracked(command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number(await firstLine(child));
  const move = async () => {
    const before = cpuSeconds(child.pid);
    const begun = performance.now();
    requireAll(await countBytes(port), byteCount);
    return { seconds: (performance.now() - begun) / 1000, cpu: cpuSeconds(child.pid) - before };
  };
  return { name, pid: child.pid, move, stop: () => endChild(child) };
}

async function countBytes(port) {
  const socket = connect(port, '127.0.0.1');
  let arrived = 0;
  socket.on('data', (data) => {
    arrived += data.length;
  });
  await once(socket, 'end');
  return arrived;
}
