import { once } from 'node:events';
import { connect } from 'node:net';

const CHUNK = Buffer.alloc(256 * 1024, 'bare');

/** Fetches so many bytes over a bare socket. @param {number} port @param {number} size */
export async function bareGet(port, size) {
  const socket = connect(port, '127.0.0.1');
  socket.write(`get ${size}\n`);
  let arrived = 0;
  socket.on('data', (data) => {
    arrived += data.length;
  });
  await once(socket, 'end');
  if (arrived !== size) throw new Error(`${arrived} bytes arrived instead of ${size}`);
}

/** Sends so many bytes over a bare socket and waits until the other end has them. @param {number} port @param {number} size */
export async function barePut(port, size) {
  const socket = connect(port, '127.0.0.1');
  const answer = once(socket, 'data');
  socket.write(`put ${size}\n`);
  for (let left = size; left > 0; left -= CHUNK.length) {
    if (!socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) await once(socket, 'drain');
  }
  await answer;
  socket.destroy();
}
