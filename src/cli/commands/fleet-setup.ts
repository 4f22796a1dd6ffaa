import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fleetSource } from '../../environment/configuration-home.js';
import { prepareFleet, readFleetSettings } from '../../fleet/index.js';
import { FleetDirectory, LocalCluster, type Role } from '../../fleet/setup/index.js';

const HERE = '127.0.0.1';
const LOCAL_NODES = 3;
/** The nodes of a cluster talk to each other on ports this much higher. */
const CLUSTER_PORT_DISTANCE = 2000;

interface InitFlags {
  readonly node: readonly string[];
  readonly port: number;
  readonly name: string;
}

export async function initFleet(path: string, flags: InitFlags): Promise<void> {
  await createFleet(path, flags);
}

async function createFleet(path: string, flags: InitFlags): Promise<FleetDirectory> {
  const hosts = flags.node.length > 0 ? flags.node : Array.from({ length: LOCAL_NODES }, () => HERE);
  const nodes = hosts.map((host, index) => {
    const port = flags.port + hosts.slice(0, index).filter((each) => each === host).length;
    return { listen: `${host}:${port}`, cluster: `${host}:${port + CLUSTER_PORT_DISTANCE}` };
  });
  const directory = FleetDirectory.create(resolve(path), { fleet: flags.name, nodes });
  const admin = await directory.add({ name: 'admin', role: 'admin' });
  say([
    ...directory.nodeFiles.map((file) => `nats-server -c ${file}`),
    `EXECWIRE_FLEET=${admin} execwire fleet prepare`,
    `execwire fleet add ${path} build-7        credentials for a machine`,
    `EXECWIRE_FLEET=${admin} execwire fleet ls`,
  ]);
  return directory;
}

export async function addMember(
  path: string,
  name: string,
  { role, machine }: { role: Role; machine: readonly string[] },
): Promise<void> {
  const directory = FleetDirectory.open(resolve(path));
  const machines = machine.length > 0 ? { machines: machine } : {};
  const settings = await directory.add({ name, role, ...machines });
  say([
    role === 'machine'
      ? `execwire serve --fleet ${settings}`
      : role === 'gateway'
        ? `execwire gateway --fleet ${settings} --registry registry.toml --token-file token`
        : `EXECWIRE_FLEET=${settings} execwire fleet ls`,
    'Let the NATS servers know: nats-server --signal reload, or SIGHUP to `execwire fleet up`.',
  ]);
}

/** Creates what the registry and jobs are kept in. */
export async function prepareStreams(): Promise<void> {
  await prepareFleet(readFleetSettings(fleetSource()));
  say(['The registry and the job queue exist now.']);
}

export function removeMember(path: string, name: string): void {
  FleetDirectory.open(resolve(path)).remove(name);
  say(['Let the NATS servers know: nats-server --signal reload, or SIGHUP to `execwire fleet up`.']);
}

/** Runs the NATS servers of a directory until interrupted. */
export async function runCluster(path: string): Promise<void> {
  const directory = existsSync(join(path, 'fleet.json'))
    ? FleetDirectory.open(resolve(path))
    : await createDemo(path);
  const { nodeFiles, urls } = directory;
  const cluster = await LocalCluster.start(
    nodeFiles.map((file, index) => ({ file, url: urls[index] ?? '' })),
  );
  process.on('SIGHUP', () => cluster.reload());
  const stopped = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
  const admin = join(directory.path, 'admin.toml');
  if (existsSync(admin)) await prepareFleet(readFleetSettings(admin));
  say([`${urls.length} NATS servers are running. Press Ctrl-C to stop them.`]);
  await stopped;
  await cluster.close();
}

/** A fleet to try: an administrator and a machine. */
async function createDemo(path: string): Promise<FleetDirectory> {
  const directory = await createFleet(path, { node: [], port: 4222, name: 'default' });
  const settings = await directory.add({ name: 'demo', role: 'machine' });
  say([`execwire serve --fleet ${settings} --job-slots 2`]);
  return directory;
}

function say(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
