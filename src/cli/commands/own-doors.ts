import { configurationHome, environmentsPath } from '../../environment/configuration-home.js';
import { admitsPeer, hideFromSandboxes } from '../../host/index.js';
import type { ServerLog } from '../../server/index.js';
import type { Admission, ListenAddress } from '../../transport/index.js';

/** What leads back to a server: the files it was given, and its sockets. */
export interface OwnDoors {
  readonly files: readonly (string | undefined)[];
  readonly addresses?: readonly ListenAddress[];
}

/** Keeps what leads to this server out of every sandbox it makes. Tokens for other machines are in the list of environments. */
export function hideOwnDoors({ files, addresses = [] }: OwnDoors): void {
  const sockets = addresses.flatMap((address) => (address.kind === 'unix' ? [address.path] : []));
  for (const path of [environmentsPath(configurationHome()), ...files, ...sockets])
    if (path !== undefined) hideFromSandboxes(path);
}

/** Lets in everybody but what runs in a sandbox of ours, and says so. */
export function admission(log: Pick<ServerLog, 'warn'>): Admission {
  return (ends, proof) => {
    const admitted = admitsPeer(ends, proof);
    if (!admitted) log.warn({}, 'refused a connection that may come from a sandbox');
    return admitted;
  };
}
