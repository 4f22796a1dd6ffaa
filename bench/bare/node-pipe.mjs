// What moving output to another process costs with nothing but Node: argv is the program whose stdout goes to whoever
// connects. Prints its port. No frames, no log, nothing to resume.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const [program, ...args] = process.argv.slice(2);
const server = createServer((socket) => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.pipe(socket);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(port);
});
