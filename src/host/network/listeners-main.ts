import { createServer, type Server } from 'node:net';

/**
 * Runs in a network namespace of its own, opens the ports its programs will find their way out by, and hands them to
 * the server, which stays outside. A socket belongs to the namespace it was made in.
 */
const count = Number(process.argv[2]);
process.on('disconnect', () => process.exit());
for (let made = 0; made < count; made += 1) {
  const server = createServer();
  server.listen({ host: '127.0.0.1', port: 0, backlog: 511 }, () => handOver(server));
}

function handOver(server: Server): void {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.send?.({ pid: process.pid, port }, server, { keepOpen: false });
}
