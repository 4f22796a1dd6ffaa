import { Command } from 'commander';
import { fleetSource } from '../../environment/configuration-home.js';
import { readFleetSettings } from '../../fleet/index.js';
import { Gateway, readGatewayClients } from '../../fleet/gateway/index.js';
import { Registry, RegistryTokenFile } from '../../registry/service/index.js';
import type { ServerLog } from '../../server/index.js';
import { ExecError } from '../../protocol/errors.js';
import { parseListenAddress } from '../../transport/index.js';
import { type AuthFlags, authFromFlags } from '../options/auth-options.js';
import { addListenOptions, addLogOptions } from '../options/listen-options.js';
import { type TlsFlags, tlsFromFlags, withTls } from '../options/tls-options.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { logAcceptErrors } from './accept-errors.js';
import { onHangup } from './hangup.js';
import { announceRegistry } from './announce-registry.js';
import { admission } from './own-doors.js';

interface GatewayFlags extends AuthFlags, TlsFlags {
  readonly fleet?: string;
  readonly clients?: string;
  readonly registry?: string;
  readonly registryUrl?: string;
  readonly listen: string;
  readonly allowHost: string[];
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

/** `execwire gateway`: the machines of a fleet as plain WebSocket servers. */
export function gatewayCommand(): Command {
  const command = new Command('gateway')
    .summary('offer the machines of a fleet as WebSocket servers')
    .description(
      'Offer every machine of a fleet as a WebSocket server: /e/NAME, or /e/?SELECTOR for one that matches.\n\n' +
        'For clients that know nothing about fleets. Several gateways can serve the same fleet.\n\n' +
        'With --registry, it also introduces machines that dial out (`codex exec-server --remote`, `execwire serve ' +
        '--remote`) to their clients. That needs no fleet; with --fleet, `execwire fleet ls` shows these machines, too.',
    )
    .option('--fleet <where>', 'nats://HOST:PORT or a settings file (default: as for -e fleet:)')
    .option('--clients <file>', 'tokens of clients, and the fleet settings that each of them uses')
    .option('--registry <file>', 'be a registry: tokens of machines and clients, and their environments')
    .option(
      '--registry-url <url>',
      'with --registry: how it is reached behind a proxy, as http(s)://HOST/PREFIX (default: as the caller does)',
    )
    .option('--listen <url>', 'ws://IP:PORT, wss://IP:PORT or unix:///PATH', 'ws://127.0.0.1:0');
  return addLogOptions(withTls(addListenOptions(command))).action(runGateway);
}

async function runGateway(flags: GatewayFlags): Promise<void> {
  const address = parseListenAddress(flags.listen);
  if (address.kind === 'stdio')
    throw new ExecError('invalidConfiguration', 'A gateway listens on ws://, wss:// or unix://.');
  const auth = authFromFlags(flags);
  const hasFleet = flags.registry === undefined || flags.fleet !== undefined;
  requireProtection(flags, auth !== undefined || address.kind === 'unix' || !hasFleet);
  const log = await createLog({ format: flags.logFormat, level: flags.logLevel });
  let end = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (end = resolve));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const registry = registryFromFlags(flags, log);
  const readClients = () => (flags.clients === undefined ? undefined : readGatewayClients(flags.clients));
  let clients = readClients();
  await using gateway = await Gateway.open({
    address,
    auth,
    tls: tlsFromFlags(flags),
    allowedHosts: flags.allowHost,
    onAcceptError: logAcceptErrors(log),
    admission: admission(log),
    log,
    // Clients of the list have settings of their own.
    settings:
      flags.clients === undefined && hasFleet ? readFleetSettings(flags.fleet ?? fleetSource()) : undefined,
    clientOf: clients && ((token) => clients?.(token)),
    side: registry?.service,
  });
  await using _announced =
    registry && flags.fleet !== undefined
      ? announceRegistry(readFleetSettings(flags.fleet), registry.service, log)
      : undefined;
  onHangup({
    log,
    end,
    reload: () => {
      const renewed = { clients: readClients(), auth: authFromFlags(flags), tls: tlsFromFlags(flags) };
      registry?.tokens.reload();
      registry?.service.review();
      clients = renewed.clients;
      gateway.renew(renewed);
    },
  });
  process.stdout.write(`${gateway.url}\n`);
  await stopped;
  registry?.service.close();
}

function registryFromFlags(
  { registry, registryUrl }: GatewayFlags,
  log: ServerLog,
): { service: Registry; tokens: RegistryTokenFile } | undefined {
  if (registryUrl !== undefined && !/^https?:\/\/[^/]/.test(registryUrl))
    throw new ExecError('invalidConfiguration', '--registry-url must be http://HOST… or https://HOST….');
  if (registry === undefined) return undefined;
  const tokens = new RegistryTokenFile(registry);
  return { tokens, service: new Registry({ tokens, publicUrl: registryUrl, log }) };
}

/** A confined program with network access reaches every port of its machine; a token keeps it out. */
function requireProtection({ clients, insecure }: GatewayFlags, isProtected: boolean): void {
  if (isProtected || clients !== undefined || insecure) return;
  throw new ExecError(
    'invalidConfiguration',
    'Anyone who can reach a gateway without authentication can use the whole fleet. Add --clients or --token-file, or --insecure.',
  );
}
