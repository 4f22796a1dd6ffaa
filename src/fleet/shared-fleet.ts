import type { Channel } from '../rpc/index.js';
import type { FleetSettings } from './bus/bus-settings.js';
import { Fleet } from './fleet.js';

interface SharedFleet {
  readonly connecting: Promise<Fleet>;
  users: number;
}

/** Connections to fleets, by their settings: all environments of a process share one per fleet. */
const shared = new Map<string, SharedFleet>();

/** Opens a channel over the shared connection, which is closed with its last channel. */
export async function dialShared(
  settings: FleetSettings,
  dial: (fleet: Fleet, ended: () => void) => Promise<Channel>,
): Promise<Channel> {
  const key = JSON.stringify(settings);
  const entry = shared.get(key) ?? { connecting: Fleet.connect(settings), users: 0 };
  shared.set(key, entry);
  entry.users += 1;
  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    entry.users -= 1;
    if (entry.users > 0) return;
    shared.delete(key);
    // The end of the last channel is still to be sent.
    setImmediate(() => void entry.connecting.then((fleet) => fleet.close()).catch(() => undefined));
  };
  try {
    return await dial(await entry.connecting, release);
  } catch (error) {
    release();
    throw error;
  }
}
