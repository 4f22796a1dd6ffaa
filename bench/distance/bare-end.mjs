// The far end of a bare socket: `get N` sends N bytes, `put N` takes N and answers with one. Prints its port and ends with
// its stdin. There is no handshake, no framing and no program, so no protocol can be faster on the same line.
import { once } from 'node:events';
import { createServer } from 'node:net';

const CHUNK = Buffer.alloc(256 * 1024, 'bare');

const server = createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (request) => answer(socket, request));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
process.stdin.resume().on('end', () => process.exit());

/** @param {import('node:net').Socket} socket @param {number} size */
async function send(socket, size) {
  for (let left = size; left > 0; left -= CHUNK.length) {
    if (!socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) await once(socket, 'drain');
  }
  socket.end();
}

/** @param {import('node:net').Socket} socket @param {number} size */
function receive(socket, size) {
  let left = size;
  socket.on('data', (data) => {
    left -= data.length;
    if (left <= 0) socket.end('.');
  });
}

/** @param {import('node:net').Socket} socket @param {Buffer} request */
function answer(socket, request) {
  const [, verb, size, rest = ''] = /^(get|put) (\d+)\n(.*)$/s.exec(request.toString('latin1')) ?? [];
  if (verb === 'get') void send(socket, Number(size));
  else receive(socket, Number(size) - rest.length);
}
