import { bin, firstLine } from '../../testkit/launch.mjs';
import { webSocketLink } from '../../testkit/links.mjs';
import { endChild, spawnTracked } from './children.mjs';
import { WireClient } from './wire.mjs';

/** Runs our own server with these options for the time of `work`. `readyMs` is the time until it listened. */
export async function withOwnServer(options, work) {
  const begun = performance.now();
  const argv = [process.execPath, bin, 'serve', '--listen', 'ws://127.0.0.1:0', ...options];
  const server = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const url = await firstLine(server);
    return await work({ url, pid: server.pid, readyMs: performance.now() - begun });
  } finally {
    await endChild(server);
  }
}

/** A client of such a server, for the time of `work`. */
export async function withClient({ url }, work) {
  const client = new WireClient(await webSocketLink(url));
  try {
    await client.handshake({ viewers: true });
    return await work(client);
  } finally {
    client.close();
  }
}
