import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { timingSafeEqual } from 'node:crypto';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { ExecError } from '../../protocol/errors.js';
import { whyUnreadable } from '../../protocol/file-failure.js';
import { sha256 } from '../../transport/index.js';
import { type FleetSettings, readFleetSettings } from '../bus/bus-settings.js';

const ClientsFile = z.strictObject({
  clients: z.array(
    z.strictObject({
      /** What the client presents, as a SHA-256 in hexadecimal digits. */
      token_sha256: z.string().regex(/^[0-9a-f]{64}$/i),
      /** The settings with which the gateway reaches the fleet for it. */
      settings: z.string(),
    }),
  ),
});

/** A client that may use a gateway. NATS enforces which machines its credentials reach. */
export interface GatewayClient {
  readonly settings: FleetSettings;
}

/** Reads the clients of a gateway. Returns a function that finds one by its token. */
export function readGatewayClients(path: string): (token: string) => GatewayClient | undefined {
  const entries = parseClients(path).map(({ token_sha256, settings }) => ({
    digest: Buffer.from(token_sha256, 'hex'),
    client: { settings: readFleetSettings(resolve(dirname(path), settings)) },
  }));
  return (token) => {
    const digest = sha256(token);
    return entries.find((each) => timingSafeEqual(each.digest, digest))?.client;
  };
}

function parseClients(path: string): z.output<typeof ClientsFile>['clients'] {
  try {
    return ClientsFile.parse(parse(readFileSync(path, 'utf8'))).clients;
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const why = issue
      ? `${issue.path.join('.')}: ${issue.message}`
      : (whyUnreadable(cause) ?? 'it is not valid TOML');
    throw new ExecError('invalidConfiguration', `Cannot read ${path}: ${why}.`, { cause });
  }
}
