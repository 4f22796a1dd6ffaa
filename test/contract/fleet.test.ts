// Needs: nats-server
import { afterAll, beforeAll } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { Fleet, FleetMember } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { linesContract } from './lines.contract.js';
import { processContract } from './process.contract.js';
import { runContract } from './run.contract.js';

let cluster: NatsCluster;
let server: ExecServer;
let member: FleetMember;
let fleet: Fleet;
beforeAll(async () => {
  cluster = await NatsCluster.start();
  server = new ExecServer({ sessionTtlMs: 1000 });
  const [first = '', second = ''] = cluster.urls;
  // The machine and the client are on different nodes.
  member = await FleetMember.join({ servers: [first] }, { name: 'build-7', server, insecure: true });
  fleet = await Fleet.connect({ servers: [second] });
});
afterAll(async () => {
  await fleet.close();
  await member.close();
  await server.close();
  await cluster.stop();
});

const open = async (): Promise<RemoteEnvironment> =>
  await RemoteEnvironment.connect({ id: 'fleet', dial: () => fleet.dial('build-7'), resume: true });

processContract('fleet', open);
runContract('fleet', open);
linesContract('fleet', open);
