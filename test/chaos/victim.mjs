// A client that is going to be killed: it starts things, reads nothing, and waits.
import { dialWebSocket, ExecClient, startProcess } from '../../dist/client/index.js';
import { MARK_NAME, persist } from './jobs.mjs';

const [, , url, mark] = process.argv;
// A client repairs later losses only; its first connection may be refused.
const client = await persist(
  () => ExecClient.connect({ dial: () => dialWebSocket(url), resume: true }),
  'notConnected',
);
const env = { [MARK_NAME]: mark };
await startProcess(client, { argv: ['sh', '-c', 'sleep 1000 & setsid sleep 1000 & wait'], env });
await startProcess(client, { argv: ['yes'], env });
await startProcess(client, { argv: ['cat'], env, tty: true });
setInterval(() => undefined, 1000);
