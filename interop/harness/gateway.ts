// Needs: nats-server
import { bin } from '../../testkit/launch.mjs';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { Child } from './child.js';
import { cleanEnv } from './clean-env.js';
import type { RunDirectory } from './run-directory.js';

const MACHINE = 'build-7';

/** A machine in a fleet of its own, and a gateway to it. */
export interface MachineBehindGateway extends AsyncDisposable {
  readonly url: string;
  crash(): Promise<void>;
}

/** `execwire serve` that only dials out: what other servers are told to listen on is no address here. */
export function fleetArgv(servers: string): readonly string[] {
  return [process.execPath, bin, 'serve', '--fleet', servers, '--name', MACHINE, '--insecure'];
}

/** Starts the machine with `start`, which is told the NATS servers. */
export async function startBehindGateway(
  start: (servers: string) => Child,
  run: RunDirectory,
): Promise<MachineBehindGateway> {
  const cluster = await NatsCluster.start({ jetStream: false, size: 1 });
  const servers = cluster.urls.join(',');
  const machine = start(servers);
  const gateway = new Child({
    argv: [process.execPath, bin, 'gateway', '--fleet', servers, '--insecure'],
    cwd: run.outside,
    env: cleanEnv(run.serverHome),
  });
  const close = async (): Promise<void> => {
    await machine.stop();
    await gateway.stop();
    await cluster.stop();
  };
  try {
    await machine.firstLine();
    const url = await gateway.firstLine();
    return { url: `${url}/e/${MACHINE}`, crash: () => machine.kill(), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
