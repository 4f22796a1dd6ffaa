import type { Channel } from '../rpc/index.js';
import { readFleetSettings } from './bus/bus-settings.js';
import { parseSelector } from './selector.js';
import { dialShared } from './shared-fleet.js';

export interface FleetDialOptions {
  /** NATS servers, or the path of a settings file. */
  readonly source: string;
  readonly connectTimeoutMs?: number | undefined;
}

/**
 * Returns a function that dials `fleet:NAME` or `fleet:?SELECTOR`. A selector is resolved once, so that a session that
 * lost its connection returns to its machine.
 */
export function fleetDialler(url: string, options: FleetDialOptions): () => Promise<Channel> {
  const target = url.slice('fleet:'.length);
  let machine = target.startsWith('?') ? undefined : target;
  return async () => {
    const settings = readFleetSettings(options.source);
    return await dialShared(settings, async (fleet, ended) => {
      machine ??= (await fleet.choose(parseSelector(target.slice(1)))).name;
      const { connectTimeoutMs } = options;
      return await fleet.dial(machine, {
        ended,
        ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      });
    });
  };
}
