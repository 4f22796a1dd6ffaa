import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../protocol/errors.js';
import type { Bus } from '../bus/bus.js';
import { loadJetStream } from '../bus/nats-library.js';
import { isPassingFailure, noJetStream, noPermission } from './store-errors.js';
import { streamConfigs } from './streams.js';

/** How long a cluster that has just been started may take to find a leader. */
const PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 200;
const REQUEST_TIMEOUT_MS = 5_000;

/** Creates the streams of a fleet, or leaves those that exist as they are. */
export async function createStreams(bus: Bus, fleet: string): Promise<void> {
  if (!bus.nats.info?.jetstream) throw noJetStream();
  const { jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(bus.nats, { checkAPI: false, timeout: REQUEST_TIMEOUT_MS });
  // A node of a cluster lists all nodes, itself included; a single server lists none.
  const nodes = bus.nats.info.connect_urls?.length ?? 1;
  const deadline = performance.now() + PATIENCE_MS;
  for (const config of streamConfigs(fleet, nodes)) {
    for (;;) {
      try {
        await manager.streams.add({ ...config, name: config.name ?? '' });
        break;
      } catch (error) {
        if (error instanceof Error && /already in use/.test(error.message)) break;
        if (await bus.isRefused(`$JS.API.STREAM.CREATE.${config.name}`)) throw noPermission(error);
        if (!isPassingFailure(error) || performance.now() > deadline)
          throw new ExecError(
            'notConnected',
            `NATS cannot create a stream of the fleet: ${reasonOf(error)}.`,
            {
              cause: error,
            },
          );
        await pause(TRY_AGAIN_MS);
      }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
