import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawnTracked } from './children.mjs';
import { compileBare } from './compiler.mjs';
import { requireAll } from './processes.mjs';

/**
 * What the system calls allow: a program in C sends the output to us, and with `keptBytes` writes it to files as well. None where
 * there is no C compiler.
 */
export function bareRelays({ scratch, argv, byteCount, keptBytes }) {
  const program = compileBare('relay', scratch);
  if (program === null) return [];
  const name = 'C read(2), write(2)';
  const run = (place) => relayed({ program, place, keptBytes, argv, byteCount });
  const onDisk = () => inDirectory(scratch, run);
  return [
    { name, move: () => run('-') },
    { name: `${name}, on disk`, move: onDisk },
  ];
}

async function inDirectory(scratch, run) {
  mkdirSync(scratch, { recursive: true });
  const directory = mkdtempSync(join(scratch, 'relay-'));
  try {
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function relayed({ program, place, keptBytes, argv, byteCount }) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const begun = performance.now();
  const options = [String(port), place, String(keptBytes)];
  const child = spawnTracked([program, ...options, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [cpu, arrived] = await Promise.all([text(child.stdout), received(server)]);
  const seconds = (performance.now() - begun) / 1000;
  requireAll(arrived, byteCount);
  return { seconds, cpu: Number(cpu) };
}

/** Counts what arrives on the first connection. */
async function received(server) {
  const [socket] = await once(server, 'connection');
  let arrived = 0;
  socket.on('data', ({ length }) => {
    arrived += length;
  });
  await once(socket, 'close');
  server.close();
  return arrived;
}
