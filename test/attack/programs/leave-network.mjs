// Tries to leave a sandbox whose network has rules. Each attempt wants a witness outside to hear its name.
//   leave-network.mjs PLAN, where PLAN is JSON: { addresses, names, port, udp, path, abstract, door, confuse }
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { confusions } from './confuse-proxy.mjs';

const plan = JSON.parse(process.argv[2]);
const proxy = new URL(process.env.HTTP_PROXY);
const LIMIT_MS = 20_000;

/** Sends bytes and waits until the other side has said enough, or hangs up. */
function say(target, parts) {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(target);
    const over = (text) => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(LIMIT_MS, () => over(said || 'silence'));
    socket.setEncoding('latin1');
    socket.on('error', (error) => over(error.code));
    socket.on('close', () => over(said));
    socket.on('connect', () => void socket.write(parts[0]));
    let next = 1;
    socket.on('data', (text) => {
      said += text;
      if (next < parts.length) socket.write(parts[next++]);
      else if (/witness|blocked|HTTP\/1.1 [45]/.test(said)) over(said);
    });
  });
}

const throughProxy = (...parts) => say({ host: proxy.hostname, port: Number(proxy.port) }, parts);
const get = (authority, name) => `GET /${name} HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`;
const asked = (authority, name) =>
  `GET http://${authority}/${name} HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`;

const attempts = {};
const safe = (text) => encodeURIComponent(text);

for (const host of [...plan.addresses, ...plan.names]) {
  const authority = `${host}:${plan.port}`;
  attempts[`get ${host}`] = (name) => throughProxy(asked(authority, name));
  attempts[`connect ${host}`] = (name) =>
    throughProxy(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`, get(authority, name));
  attempts[`socks name ${host}`] = (name) => {
    const text = Buffer.from(host.replace(/^\[|\]$/g, ''));
    const port = Buffer.of(plan.port >> 8, plan.port & 255);
    return throughProxy(
      Buffer.of(5, 1, 0),
      Buffer.concat([Buffer.of(5, 1, 0, 3, text.length), text, port]),
      get(authority, name),
    );
  };
}
for (const address of plan.direct) {
  attempts[`directly ${address}`] = (name) => say({ host: address, port: plan.port }, [get(address, name)]);
  attempts[`datagram ${address}`] = (name) =>
    new Promise((resolve) => {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
      socket.on('error', (error) => resolve(error.code));
      socket.send(name, plan.udp, address, (error) => {
        socket.close();
        resolve(error?.code ?? 'sent');
      });
    });
}
const here = `127.0.0.1:${plan.port}`;
const v4 = (...bytes) => Buffer.of(5, 1, 0, 1, ...bytes, plan.port >> 8, plan.port & 255);
const v6 = (text) =>
  Buffer.concat([
    Buffer.of(5, 1, 0, 4),
    Buffer.from(text, 'hex'),
    Buffer.of(plan.port >> 8, plan.port & 255),
  ]);
const socks = (request) => (name) => throughProxy(Buffer.of(5, 1, 0), request, get(here, name));
Object.assign(attempts, {
  'a host behind a user name': (name) => throughProxy(asked(`example.com@${here}`, name)),
  'a host in a header': (name) =>
    throughProxy(`GET http://example.com/${name} HTTP/1.1\r\nHost: ${here}\r\nConnection: close\r\n\r\n`),
  'two hosts': (name) =>
    throughProxy(`GET /${name} HTTP/1.1\r\nHost: example.com\r\nHost: ${here}\r\nConnection: close\r\n\r\n`),
  'another scheme': (name) => throughProxy(`GET ftp://${here}/${name} HTTP/1.1\r\nHost: ${here}\r\n\r\n`),
  'no target at all': (name) => throughProxy(get(here, name)),
  'an upgrade': (name) =>
    throughProxy(
      `GET http://${here}/${name} HTTP/1.1\r\nHost: ${here}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ),
  'a request hidden in a body': (name) => {
    const hidden = asked(here, name);
    return throughProxy(
      `POST http://example.com:1/ HTTP/1.1\r\nHost: example.com:1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    );
  },
  'a request behind a refused one': (name) =>
    throughProxy(
      `${asked(`localhost:${plan.port}`, 'x').replace('close', 'keep-alive')}${asked(here, name)}`,
    ),
  'a proxy behind the proxy': (name) =>
    throughProxy(
      `CONNECT 127.0.0.1:${proxy.port} HTTP/1.1\r\n\r\n`,
      `CONNECT ${here} HTTP/1.1\r\n\r\n`,
      get(here, name),
    ),
  'a line break in a host': (name) =>
    throughProxy(`CONNECT example.com\r\nX: ${here} HTTP/1.1\r\n\r\n`, get(here, name)),
  'socks to an address': socks(v4(127, 0, 0, 1)),
  'socks to any address': socks(v4(0, 0, 0, 0)),
  'socks to a mapped address': socks(v6('00000000000000000000ffff7f000001')),
  'socks to a translated address': socks(v6('0064ff9b00000000000000007f000001')),
  'socks to loopback': socks(v6('00000000000000000000000000000001')),
  'socks to a tunnel': socks(v6('20027f00000100000000000000000000')),
  'socks BIND': socks(Buffer.of(5, 2, 0, 1, 127, 0, 0, 1, plan.port >> 8, plan.port & 255)),
  'socks UDP': socks(Buffer.of(5, 3, 0, 1, 0, 0, 0, 0, 0, 0)),
  'socks with a password': (name) =>
    throughProxy(Buffer.of(5, 1, 2), Buffer.of(1, 1, 97, 1, 97), v4(127, 0, 0, 1), get(here, name)),
  'a unix socket': (name) => say({ path: plan.path }, [get('unix', name)]),
  'an abstract socket': (name) => say({ path: `\0${plan.abstract}` }, [get('unix', name)]),
  'the door of our server': () =>
    throughProxy(
      `GET http://127.0.0.1:${plan.door}/ HTTP/1.1\r\nHost: 127.0.0.1:${plan.door}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    ),
});

if (plan.confuse)
  for (const [name, parts] of Object.entries(confusions({ port: plan.port, proxyPort: Number(proxy.port) })))
    attempts[name] = (said) => throughProxy(...parts(said));

const results = {};
const waiting = Object.entries(attempts);
const lane = async () => {
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const [name, attempt] = entry;
    results[name] = String(await attempt(safe(name)).catch((error) => error.message)).slice(0, 200);
  }
};
await Promise.all(Array.from({ length: 8 }, lane));
console.log(JSON.stringify(results));
process.exit();
