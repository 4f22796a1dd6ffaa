import type { ConnectionOptions, NatsConnection, ReconnectToServerHandler } from '@nats-io/transport-node';
import { randomInt } from 'node:crypto';
import type { Socket } from 'node:net';
import { ExecError } from '../../protocol/errors.js';
import { inboxOf } from '../subjects.js';
import { DEFAULT_IDENTITY, type FleetSettings } from './bus-settings.js';
import { loadNats, type Nats } from './nats-library.js';
import { tlsOptions } from './tls.js';

/** A node that does not answer two pings is given up; with the time to connect elsewhere this takes about 3 s. */
const PING_INTERVAL_MS = 1000;
const MAX_PINGS_OUT = 2;
/** How long one node may take to accept us before the next one is tried. */
const CONNECT_TIMEOUT_MS = 1500;
const RECONNECT_WAIT_MS = 50;
const RECONNECT_JITTER_MS = 100;
/** Idle machines reconnect spread over this time, so that those in use are back at once. */
const IDLE_WAIT_MS = { atLeast: 50, atMost: 300 };
/** A stalled node with a full socket never finishes closing, so it is cut. */
const STALE_GRACE_MS = 150;

/** Connects to NATS and stays connected until told to stop: a lost node is replaced by another one. */
export async function connectToNats(
  settings: FleetSettings,
  { label, isIdle }: { label: string; isIdle: () => boolean },
): Promise<NatsConnection> {
  const nats = await loadNats();
  const { servers, identity = DEFAULT_IDENTITY } = settings;
  let connection: NatsConnection | undefined;
  const avoidLast: ReconnectToServerHandler = (pool, info) => {
    if (!info && !connection) return null;
    const last = connection?.getServer();
    const others = pool.filter(({ listen }) => listen !== last);
    const server = others[Math.floor(Math.random() * others.length)];
    if (!server) return null;
    return isIdle() ? { server, delay: randomInt(IDLE_WAIT_MS.atLeast, IDLE_WAIT_MS.atMost) } : server;
  };
  const options: ConnectionOptions = {
    servers: [...servers],
    name: label,
    inboxPrefix: inboxOf(identity),
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    reconnectToServer: avoidLast,
    noAsyncTraces: true,
    ...authenticatorOf(settings, nats),
    ...tlsOptions(settings),
  };
  try {
    connection = await nats.connect(options);
  } catch (cause) {
    throw new ExecError('notConnected', `Cannot connect to the fleet: ${reasonOf(cause)}.`, { cause });
  }
  void cutStaleSockets(connection);
  return connection;
}

function authenticatorOf({ nkey, credentials }: FleetSettings, nats: Nats): Partial<ConnectionOptions> {
  const encoder = new TextEncoder();
  if (credentials !== undefined)
    return { authenticator: nats.credsAuthenticator(encoder.encode(credentials)) };
  if (nkey !== undefined) return { authenticator: nats.nkeyAuthenticator(encoder.encode(nkey)) };
  return {};
}

/** The library waits for a stalled node to take its last bytes, which it never does. */
async function cutStaleSockets(connection: NatsConnection): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type !== 'staleConnection') continue;
    const socket = socketOf(connection);
    setTimeout(() => socket?.destroy(), STALE_GRACE_MS).unref();
  }
}

/** The library does not expose it. */
function socketOf(connection: NatsConnection): Socket | undefined {
  const inner = connection as unknown as { protocol?: { transport?: { socket?: Socket } } };
  return inner.protocol?.transport?.socket;
}

/** The reason, without the address: it may contain credentials. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (/authorization violation/i.test(message))
    return 'the NATS server rejected the credentials; new ones work once it has reloaded its configuration';
  return /refused/i.test(message)
    ? 'no NATS server accepts connections there'
    : message.replace(/\S+:\/\/\S+/g, '…');
}
