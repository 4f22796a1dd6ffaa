import { configurationHome, environmentsPath, fleetPath } from '../../environment/configuration-home.js';
import { admitsPeer, hideFromSandboxes } from '../../host/index.js';
import type { ServerLog } from '../../server/index.js';
import type { Admission, ListenAddress } from '../../transport/index.js';

/** Everything that gives access to this server: the files it was given, and its sockets. */
export interface OwnDoors {
  readonly files: readonly (string | undefined)[];
  readonly addresses?: readonly ListenAddress[];
}

/** Hides all of it from every sandbox. The environments file is included because it holds tokens for other machines. */
export function hideOwnDoors({ files, addresses = [] }: OwnDoors): void {
  const sockets = addresses.flatMap((address) => (address.kind === 'unix' ? [address.path] : []));
  const home = configurationHome();
  for (const path of [environmentsPath(home), fleetPath(home), ...files, ...sockets])
    if (path !== undefined) hideFromSandboxes(path);
}

/** Rejects connections from our own sandboxes, and logs them. */
export function admission(log: Pick<ServerLog, 'warn'>): Admission {
  return (ends, proof) => {
    const admitted = admitsPeer(ends, proof);
    if (!admitted) log.warn({}, 'refused a connection that may come from a sandbox');
    return admitted;
  };
}
