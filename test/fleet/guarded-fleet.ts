import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { FleetMember, type FleetSettings, prepareFleet, readFleetSettings } from '../../src/fleet/index.js';
import { FleetDirectory, LocalCluster } from '../../src/fleet/setup/index.js';
import { ExecServer } from '../../src/server/index.js';
import { TestFolder } from '../harness/processes.js';

const MEMBERS = [
  { name: 'good', role: 'machine' },
  { name: 'evil', role: 'machine' },
  { name: 'alice', role: 'client' },
  { name: 'mallory', role: 'client', machines: ['evil'] },
  { name: 'carol', role: 'client', machines: ['good'] },
  { name: 'root', role: 'admin' },
  { name: 'gate', role: 'gateway' },
] as const;

type Name = (typeof MEMBERS)[number]['name'];

export interface GuardedFleet {
  /** The settings of a member. */
  readonly of: (name: Name) => FleetSettings;
  /** A connection that does as it likes, with the credentials of somebody. */
  readonly as: (name: Name) => Promise<NatsConnection>;
  /** The machine that is in the fleet. */
  readonly good: () => FleetMember;
  /** A directory of this test file. */
  readonly folder: string;
}

/** A fleet on two NATS servers with permissions as `fleet init` writes them, for the tests of this file. Its name is `f`. */
export function guardedFleet(): GuardedFleet {
  const folder = new TestFolder();
  const settings = new Map<string, FleetSettings>();
  const raw: NatsConnection[] = [];
  let cluster: LocalCluster;
  let server: ExecServer;
  let member: FleetMember;
  const of = (name: Name): FleetSettings => {
    const found = settings.get(name);
    if (!found) throw new Error(`no settings for ${name}`);
    return found;
  };

  beforeAll(async () => {
    const ports = await freePorts(4);
    const nodes = [0, 1].map((index) => ({
      listen: `127.0.0.1:${ports[index]}`,
      cluster: `127.0.0.1:${ports[index + 2]}`,
    }));
    const directory = FleetDirectory.create(join(folder.path, 'fleet'), { fleet: 'f', nodes });
    for (const each of MEMBERS) settings.set(each.name, readFleetSettings(await directory.add(each)));
    const { nodeFiles, urls } = directory;
    cluster = await LocalCluster.start(nodeFiles.map((file, index) => ({ file, url: urls[index] ?? '' })));
    await prepareFleet(of('root'));
    server = new ExecServer();
    member = await FleetMember.join(of('good'), { name: 'good', server, jobSlots: 1 });
  });
  afterAll(async () => {
    for (const each of raw) await each.close();
    await member.close();
    await server.close();
    await cluster.close();
    folder[Symbol.dispose]();
  });

  const as = async (name: Name): Promise<NatsConnection> => {
    const { servers, nkey = '' } = of(name);
    const connection = await connect({
      servers: [...servers],
      authenticator: nkeyAuthenticator(new TextEncoder().encode(nkey)),
      inboxPrefix: `_INBOX_${name}`,
    });
    raw.push(connection);
    return connection;
  };
  return { of, as, good: () => member, folder: folder.path };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const listener = createServer().listen(0, '127.0.0.1');
      await once(listener, 'listening');
      return listener;
    }),
  );
  return servers.map((listener) => {
    const address = listener.address();
    listener.close();
    return typeof address === 'object' && address ? address.port : 0;
  });
}
