// What a program sees of the way to a server: bytes per second, a request on a connection that is open, and one on a new one.
// It goes through the proxies of its environment, or straight on. Usage: proxy-client.mjs PORT BYTES COUNT
import { once } from 'node:events';
import { connect } from 'node:net';

const [port, byteCount, count] = process.argv.slice(2).map(Number);
const { HTTP_PROXY, ALL_PROXY } = process.env;
const host = '127.0.0.1';

/** A connection to the server. */
async function reach() {
  if (!ALL_PROXY) return connect({ port, host, noDelay: true });
  const socket = connect({ port: Number(new URL(ALL_PROXY).port), host, noDelay: true });
  socket.write(Buffer.of(5, 1, 0));
  await answer(socket, 2);
  socket.write(Buffer.of(5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff));
  const [, status] = await answer(socket, 10);
  if (status !== 0) throw new Error(`the proxy answered ${status}`);
  return socket;
}

/** A connection for requests, and the first line of one. */
async function reachForRequests() {
  if (!HTTP_PROXY) return { socket: await reach(), line: 'GET / HTTP/1.1' };
  const socket = connect({ port: Number(new URL(HTTP_PROXY).port), host, noDelay: true });
  return { socket, line: `GET http://${host}:${port}/ HTTP/1.1` };
}

async function answer(socket, length) {
  const parts = [];
  for (let have = 0; have < length; ) {
    const [part] = await once(socket, 'data');
    parts.push(part);
    have += part.length;
  }
  return Buffer.concat(parts);
}

async function request({ socket, line }) {
  socket.write(`${line}\r\nhost: ${host}:${port}\r\n\r\n`);
  let text = '';
  while (!text.endsWith('\r\n\r\nok')) text += String((await once(socket, 'data'))[0]);
}

async function download() {
  const socket = await reach();
  const begun = performance.now();
  let arrived = 0;
  socket.on('data', ({ length }) => {
    arrived += length;
  });
  socket.write(`send ${byteCount}\n`);
  await once(socket, 'end');
  socket.end();
  if (arrived !== byteCount) throw new Error(`${arrived} bytes arrived`);
  return byteCount / 1e6 / ((performance.now() - begun) / 1000);
}

async function samples(work) {
  const taken = [];
  for (let each = 0; each < count; each += 1) {
    const begun = performance.now();
    await work();
    taken.push(performance.now() - begun);
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(count / 2)];
}

const open = await reachForRequests();
// The first ones are those of a program that is not compiled yet.
for (let each = 0; each < count; each += 1) await request(open);
const requestMs = await samples(() => request(open));
open.socket.destroy();
const connectMs = await samples(async () => {
  const fresh = await reachForRequests();
  await request(fresh);
  fresh.socket.destroy();
});
console.log(JSON.stringify({ mbPerSecond: await download(), requestMs, connectMs }));
process.exit();
