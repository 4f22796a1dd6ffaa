// Viewers that ask for the same thing all the time, several times at once each. Arguments: URL, how many, and a request.
import { dialWire } from '../../testkit/wire-client.mjs';

const IN_FLIGHT = 4;
const ANSWER = Buffer.from('{"id"');
const [url, count, method, params] = process.argv.slice(2);

const sockets = [];
for (let viewer = 0; viewer < Number(count); viewer += 1) {
  const { client, socket } = await dialWire(url);
  await client.handshake();
  await client.call('process/attach', { processId: 'p', keyboard: 'view', fromEnd: true });
  // Nobody looks at what arrives.
  socket.removeAllListeners('message');
  sockets.push(socket);
}
for (const socket of sockets) {
  const ask = () => socket.send(`{"id":1,"method":"${method}","params":${params}}`);
  socket.on('message', (data) => {
    if (data.subarray(0, ANSWER.length).equals(ANSWER)) ask();
  });
  for (let request = 0; request < IN_FLIGHT; request += 1) ask();
}
process.stdout.write('asking\n');
