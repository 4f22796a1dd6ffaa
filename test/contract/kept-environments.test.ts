import { afterAll, beforeAll } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { Environment, ExecProcess } from '../../src/contract/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { startProgram } from '../../src/transport/start-program.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { TestFolder } from '../harness/processes.js';
import { SshMachine } from '../harness/ssh-machine.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { type OpenEnvironment, processContract } from './process.contract.js';
import { spoolContract } from './spool.contract.js';

// What holds for a process holds for one that is kept, with all its output on disk: over every way to a server that can keep
// it.
const folder = new TestFolder();
const socket = folder.file('socket');
let webSocket: ServerProcess;
let unixSocket: ServerProcess;
let machine: SshMachine;
beforeAll(async () => {
  const common = ['--session-ttl', '1', '--spool'];
  [webSocket, unixSocket, machine] = await Promise.all([
    ServerProcess.start({ args: [...common, folder.file('ws')] }),
    ServerProcess.start({ args: [...common, folder.file('unix'), '--listen', `unix://${socket}`] }),
    SshMachine.start({ command: `connect 'unix://${socket}'` }),
  ]);
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
  await Promise.all([webSocket.stop(), unixSocket.stop()]);
  folder[Symbol.dispose]();
});

/** The same environment, whose processes are all kept, until it is closed. */
function keeping(open: OpenEnvironment): OpenEnvironment {
  return async () => {
    const environment = await open();
    const [start, close] = [environment.start.bind(environment), environment.close.bind(environment)];
    const started: ExecProcess[] = [];
    environment.start = async (spec) => {
      const process = await start({ lease: 'kept', retain: 'disk', ...spec });
      started.push(process);
      return process;
    };
    environment.close = async () => {
      // Nobody else would end them.
      await Promise.all(started.map((process) => process.terminate()));
      await Promise.all(started.map(({ processId }) => environment.waitFor(processId)));
      await close();
    };
    return environment;
  };
}

const server = new ExecServer({ sessionTtlMs: 1000, spool: { directory: folder.file('memory') } });

for (const [name, open] of [
  [
    'memory',
    () => {
      const dial = async () => {
        const [near, far] = createMemoryChannels();
        void server.accept(far, { principal: 'somebody' });
        return near;
      };
      return RemoteEnvironment.connect({ id: 'memory', dial, resume: true });
    },
  ],
  ['ws', () => connect(true)],
  ['ws without binary frames', () => connect(false)],
  [
    'unix',
    () => RemoteEnvironment.connect({ id: 'unix', dial: () => dialWebSocket(unixSocket.url), resume: true }),
  ],
  [
    'a program that connects',
    () => {
      const program = { program: process.execPath, args: [bin, 'connect', `unix://${socket}`] };
      return RemoteEnvironment.connect({
        id: 'connect',
        dial: async () => await startProgram(program),
        resume: true,
      });
    },
  ],
  ['ssh and a program that connects', () => machine.open()],
] as const) {
  const kept = keeping(open);
  processContract(`${name}, kept`, kept);
  spoolContract(`${name}, kept`, kept);
}

function connect(binaryFrames: boolean): Promise<Environment> {
  return RemoteEnvironment.connect({
    id: 'ws',
    dial: () => dialWebSocket(webSocket.url),
    resume: true,
    binaryFrames,
  });
}
