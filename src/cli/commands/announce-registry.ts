import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Fleet, type FleetSettings } from '../../fleet/index.js';
import type { Registry } from '../../registry/service/index.js';
import type { ServerLog } from '../../server/index.js';

/** How soon to try again if no NATS server can be reached. */
const TRY_AGAIN_MS = 5_000;

/** Lets the clients of a fleet see which machines the registry of a gateway knows. The registry does not wait for the fleet. */
export function announceRegistry(
  settings: FleetSettings,
  registry: Registry,
  log: ServerLog,
): AsyncDisposable {
  const over = new AbortController();
  const announcing = announce({ settings, registry, log, signal: over.signal });
  return {
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await announcing;
    },
  };
}

async function announce(options: {
  settings: FleetSettings;
  registry: Registry;
  log: ServerLog;
  signal: AbortSignal;
}): Promise<void> {
  const { settings, registry, log, signal } = options;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      await using fleet = await Fleet.connect(settings);
      fleet.announceRemote(
        () => registry.machines(),
        () => log.warn({}, NOT_ALLOWED),
      );
      if (!signal.aborted) await once(signal, 'abort');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isFirst) log.warn({ reason }, 'cannot tell the fleet about the machines of the registry yet');
      await pause(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

const NOT_ALLOWED =
  'the credentials of this gateway do not let it tell the fleet about the machines of its registry: `execwire fleet add --role gateway` makes some that do';
