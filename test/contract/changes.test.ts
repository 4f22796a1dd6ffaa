// Needs: bwrap, nats-server
import { afterAll, beforeAll } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { LocalEnvironment } from '../../src/environment/index.js';
import { Fleet, FleetMember } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { startProgram } from '../../src/transport/start-program.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { bin } from '../../testkit/launch.mjs';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { SshMachine } from '../harness/ssh-machine.js';
import { changesContract } from './changes.contract.js';

// The same wherever the machine is. Those that share a server have their sets in one place.
const folder = new TestFolder();
const socket = folder.file('socket');
const server = new ExecServer({ sessionTtlMs: 1000, changesDirectory: folder.file('memory') });
let webSocket: ServerProcess;
let unixSocket: ServerProcess;
let machine: SshMachine;
let cluster: NatsCluster;
let member: FleetMember;
let fleet: Fleet;
beforeAll(async () => {
  const common = ['--session-ttl', '1', '--changes-dir'];
  [webSocket, unixSocket, machine, cluster] = await Promise.all([
    ServerProcess.start({ args: [...common, folder.file('ws')] }),
    ServerProcess.start({ args: [...common, folder.file('unix'), '--listen', `unix://${socket}`] }),
    SshMachine.start({ command: `connect 'unix://${socket}'` }),
    NatsCluster.start(),
  ]);
  const [first = '', second = ''] = cluster.urls;
  member = await FleetMember.join({ servers: [first] }, { name: 'build-7', server, insecure: true });
  fleet = await Fleet.connect({ servers: [second] });
});
afterAll(async () => {
  await fleet.close();
  await member.close();
  await server.close();
  await machine[Symbol.asyncDispose]();
  await Promise.all([webSocket.stop(), unixSocket.stop(), cluster.stop()]);
  folder[Symbol.dispose]();
});

changesContract('local', async () => new LocalEnvironment({ changesDirectory: folder.file('local') }), {
  grows: true,
});

changesContract('memory', () => {
  const dial = async () => {
    const [near, far] = createMemoryChannels();
    void server.accept(far);
    return near;
  };
  return RemoteEnvironment.connect({ id: 'memory', dial, resume: true });
});

for (const binaryFrames of [true, false])
  changesContract(
    binaryFrames ? 'ws' : 'ws without binary frames',
    () =>
      RemoteEnvironment.connect({
        id: 'ws',
        dial: () => dialWebSocket(webSocket.url),
        resume: true,
        binaryFrames,
      }),
    { grows: binaryFrames },
  );

changesContract('unix', () =>
  RemoteEnvironment.connect({ id: 'unix', dial: () => dialWebSocket(unixSocket.url), resume: true }),
);

changesContract('stdio', () => {
  const args = [bin, 'serve', '--listen', 'stdio', '--changes-dir', folder.file('stdio')];
  return RemoteEnvironment.connect({
    id: 'stdio',
    dial: async () => await startProgram({ program: process.execPath, args }),
    resume: false,
  });
});

changesContract('ssh and a program that connects', () => machine.open());

changesContract('fleet', () =>
  RemoteEnvironment.connect({ id: 'fleet', dial: () => fleet.dial('build-7'), resume: true }),
);
