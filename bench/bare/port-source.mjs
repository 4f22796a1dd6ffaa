// A server on a port of loopback. The first line of a connection says what it is for: `send N` for so many bytes, `take N` to be
// told when so many have arrived, `GET` for short answers over HTTP, `echo` to get everything back.
import { once } from 'node:events';
import { createServer } from 'node:net';

const block = Buffer.alloc(256 * 1024, 'x');

async function send(socket, count) {
  for (let left = count; left > 0; left -= block.length) {
    const isRoom = socket.write(left < block.length ? block.subarray(0, left) : block);
    if (!isRoom) await once(socket, 'drain');
  }
  socket.end();
}

function take(socket, count, first) {
  let left = count - first.length;
  const look = () => {
    if (left <= 0) socket.end('taken');
  };
  socket.on('data', (data) => {
    left -= data.length;
    look();
  });
  look();
}

/** A request comes in one piece, and the next one after its answer. */
function answer(socket, first) {
  const say = () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  if (first.length > 0) say();
  socket.on('data', say).on('end', () => socket.end());
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first) => {
    const end = first.indexOf('\n');
    const [order, count] = first.subarray(0, end).toString().split(' ');
    if (order === 'send') return void send(socket, Number(count)).catch(() => socket.destroy());
    if (order === 'GET') return answer(socket, first);
    const rest = first.subarray(end + 1);
    if (order === 'take') return take(socket, Number(count), rest);
    if (rest.length > 0) socket.write(rest);
    socket.pipe(socket);
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(port);
});
