import type { DurableOptions } from './durable-state.js';
import { LISTENER_KEY } from './take-up.js';

/** The sockets a server listens on, which the server after it takes over: clients that come meanwhile wait. */
export interface KeptDoors {
  /** The socket an earlier server opened for the address with this number. */
  socketOf(index: number): { readonly fd: number; readonly isOurs: boolean } | undefined;
  opened(index: number, descriptor: number | null): void;
}

export function keptDoors(durable: DurableOptions | undefined): KeptDoors {
  const inherited = durable?.keeper.inherited.get(LISTENER_KEY)?.descriptors ?? {};
  return {
    socketOf: (index) => {
      const fd = inherited[String(index)];
      const isOurs = index >= (durable?.passedSockets ?? 0);
      return fd === undefined ? undefined : { fd, isOurs };
    },
    opened: (index, descriptor) => {
      if (!durable || descriptor === null || String(index) in inherited) return;
      durable.keeper.hold(LISTENER_KEY, { [String(index)]: descriptor });
    },
  };
}
