import type { ConnectionOptions } from '@nats-io/transport-node';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { FleetSettings } from './bus-settings.js';

/** What Node calls a server that was given by its address. */
const NAMELESS = 'localhost';

/** Whether the settings ask for encryption. Then servers without it are refused. */
function wantsTls({ servers, caFile }: FleetSettings): boolean {
  return caFile !== undefined || servers.some((server) => server.startsWith('tls://'));
}

/**
 * How to encrypt. The library knows the names of servers but not their addresses, and Node would accept a certificate for
 * "localhost" instead: a server that has no name must have a certificate for one of the addresses in the settings.
 */
export function tlsOptions(settings: FleetSettings): Partial<ConnectionOptions> {
  if (!wantsTls(settings)) return {};
  const { servers, caFile } = settings;
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const check = (host: string, certificate: PeerCertificate): Error | undefined => {
    if (host !== NAMELESS || hosts.includes(NAMELESS)) return checkServerIdentity(host, certificate);
    const problems = addresses.map((address) => checkServerIdentity(address, certificate));
    return problems.includes(undefined) ? undefined : (problems[0] ?? new Error('the server has no name'));
  };
  // The library passes on what it does not know itself.
  const tls: object = { ...(caFile === undefined ? {} : { caFile }), checkServerIdentity: check };
  return { tls };
}
