import { afterAll, beforeAll } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { startProgram } from '../../src/transport/start-program.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { type OpenEnvironment, processContract } from './process.contract.js';
import { portStreamsContract } from './port-streams.contract.js';
import { portsContract } from './ports.contract.js';
import { linesContract } from './lines.contract.js';
import { runContract } from './run.contract.js';

const folder = new TestFolder();
let webSocket: ServerProcess;
let unixSocket: ServerProcess;
beforeAll(async () => {
  webSocket = await ServerProcess.start({ args: ['--session-ttl', '1'] });
  unixSocket = await ServerProcess.start({
    args: ['--session-ttl', '1', '--listen', `unix://${folder.file('socket')}`],
  });
});
afterAll(async () => {
  await Promise.all([webSocket.stop(), unixSocket.stop()]);
  folder[Symbol.dispose]();
});

function contracts(name: string, open: OpenEnvironment): void {
  processContract(name, open);
  runContract(name, open);
  linesContract(name, open);
  portsContract(name, open);
  portStreamsContract(name, open);
}

contracts('local', async () => new LocalEnvironment());

contracts('memory', async () => {
  const server = new ExecServer({ sessionTtlMs: 1000 });
  const dial = async () => {
    const [near, far] = createMemoryChannels();
    void server.accept(far);
    return near;
  };
  return await RemoteEnvironment.connect({ id: 'memory', dial, resume: true });
});

contracts('ws', () =>
  RemoteEnvironment.connect({ id: 'ws', dial: () => dialWebSocket(webSocket.url), resume: true }),
);

contracts('ws without binary frames', () =>
  RemoteEnvironment.connect({
    id: 'ws',
    dial: () => dialWebSocket(webSocket.url),
    resume: true,
    binaryFrames: false,
  }),
);

contracts('unix', () =>
  RemoteEnvironment.connect({ id: 'unix', dial: () => dialWebSocket(unixSocket.url), resume: true }),
);

contracts('stdio', () => {
  const program = { program: process.execPath, args: [bin, 'serve', '--listen', 'stdio'] };
  return RemoteEnvironment.connect({
    id: 'stdio',
    dial: async () => await startProgram(program),
    resume: false,
  });
});
