// node connection-flood.mjs URL ATTACK COUNT AGAIN_MS: opens connections and does with them what ATTACK says, again and
// again after AGAIN_MS. For each it loses it opens another, as much later. Prints a line once all were opened, and ends with
// its stdin.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const [url, attack, count, againMs] = process.argv.slice(2);
const { port, hostname, protocol } = new URL(url);

const UPGRADE =
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';

/** What is said at once, and what then from time to time. */
const ATTACKS = {
  idle: [],
  slowHeader: [UPGRADE, 'x'],
  health: [HEALTH, HEALTH],
  slowBody: ['POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  upgraded: [`${UPGRADE}\r\n`],
};

function open() {
  const at = { port: Number(port), host: hostname };
  const socket = protocol === 'wss:' ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
  const [first, next] = ATTACKS[attack];
  let timer;
  socket.on('error', () => undefined);
  socket.resume();
  socket.once('close', () => {
    clearInterval(timer);
    setTimeout(() => void open(), Number(againMs));
  });
  return new Promise((resolve) => {
    socket.once('close', resolve);
    socket.once('connect', () => {
      if (first) socket.write(first);
      if (next) timer = setInterval(() => socket.write(next), Number(againMs));
      resolve();
    });
  });
}

process.stdin.on('end', () => process.exit(0)).resume();
await Promise.all(Array.from({ length: Number(count) }, open));
process.stdout.write('opened\n');
