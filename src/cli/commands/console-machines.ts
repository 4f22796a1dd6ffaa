import type { ConsoleMachine } from '../../console/index.js';
import { dialEnvironment, type EnvironmentConfig, type EnvironmentsConfig } from '../../environment/index.js';
import type { ExecServer } from '../../server/index.js';
import { relay } from '../../transport/index.js';
import { environmentRows } from './env-list.js';

/** A machine that this very process serves, to the client known as `principal`. */
export function servedMachine(server: ExecServer, { principal }: { principal: string }): ConsoleMachine {
  return {
    id: 'local',
    kind: 'local',
    where: 'this machine',
    serve: (channel, { probe }) => server.accept(channel, { principal, probe }),
  };
}

/** The configured machines. Each connection of a page is relayed to one of its own. */
export function configuredMachines(config: EnvironmentsConfig): ConsoleMachine[] {
  const rows = environmentRows({ ...config, includeLocal: false });
  return config.environments.map((environment) => {
    const { kind = 'url', where = '' } = rows.find(({ id }) => id === environment.id) ?? {};
    return { id: environment.id, kind, where, serve: (channel) => relayTo(environment, channel) };
  });
}

/** Connects a page to a machine until one of them is gone. */
export async function relayTo(
  environment: EnvironmentConfig,
  channel: Parameters<ConsoleMachine['serve']>[0],
): Promise<void> {
  const machine = await dialEnvironment(environment);
  await relay(channel, machine);
}
