import { configurationHome, secretPaths } from '../../environment/configuration-home.js';
import { admitsPeer, hideFromSandboxes } from '../../host/index.js';
import type { ServerLog } from '../../server/index.js';
import type { Admission, ListenAddress } from '../../transport/index.js';

/** Everything that gives access to this server: the files it was given, and its sockets. */
export interface OwnDoors {
  readonly files: readonly (string | undefined)[];
  readonly addresses?: readonly ListenAddress[];
}

/** Hides all of it from every sandbox. Tokens for other machines are included. */
export function hideOwnDoors({ files, addresses = [] }: OwnDoors): void {
  const sockets = addresses.flatMap((address) => (address.kind === 'unix' ? [address.path] : []));
  for (const path of [...secretPaths(configurationHome()), ...files, ...sockets])
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
