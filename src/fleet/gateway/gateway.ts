import { randomBytes } from 'node:crypto';
import type { Channel } from '../../rpc/index.js';
import {
  type ListenerConnection,
  type LivenessOptions,
  relay,
  sha256,
  WebSocketListener,
  type WebSocketListenerOptions,
} from '../../transport/index.js';
import { DEFAULT_IDENTITY, type FleetSettings } from '../bus/bus-settings.js';
import type { Fleet } from '../fleet.js';
import { dialShared } from '../shared-fleet.js';
import type { GatewayClient } from './gateway-clients.js';
import { type GatewayPlace, placeOf } from './gateway-path.js';

/** A client that has vanished must not keep its session from resuming for long. */
const LIVENESS: LivenessOptions = { pingIntervalMs: 5_000, silenceLimitMs: 15_000 };

export interface GatewayOptions
  extends Pick<
    WebSocketListenerOptions,
    'address' | 'auth' | 'tls' | 'allowedHosts' | 'admission' | 'onAcceptError' | 'side'
  > {
  /** How to reach the fleet for clients that have no settings of their own. Without it, they are not let in. */
  readonly settings?: FleetSettings | undefined;
  /** Finds clients by their tokens. If given, all others are refused unless `auth` admits them. */
  readonly clientOf?: ((token: string) => GatewayClient | undefined) | undefined;
  readonly log?: { info(details: object, message: string): void } | undefined;
}

/**
 * Makes every machine of a fleet a plain WebSocket server under its own path, for clients that know nothing about fleets. It
 * moves messages without reading them and keeps nothing, so that a session can resume through another gateway.
 */
export class Gateway implements AsyncDisposable {
  readonly #listener: WebSocketListener;

  private constructor(listener: WebSocketListener) {
    this.#listener = listener;
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const { clientOf, settings, log: _, ...listening } = options;
    const listener = await WebSocketListener.open({
      ...listening,
      // Without `auth`, a random token keeps out all clients that are not in the list.
      ...((clientOf || !settings) && !options.auth ? { auth: nobody() } : {}),
      ...(clientOf ? { shareOf: clientOf } : {}),
      paths: 'any',
      liveness: LIVENESS,
      onConnection: (channel, connection) => void connect(channel, connection, options),
    });
    return new Gateway(listener);
  }

  get url(): string {
    return this.#listener.url;
  }

  /** Uses other credentials from here on. Connected clients stay. */
  renew(credentials: Pick<GatewayOptions, 'auth' | 'tls'>): void {
    this.#listener.renew(credentials);
  }

  async close(): Promise<void> {
    await this.#listener.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function nobody(): NonNullable<WebSocketListenerOptions['auth']> {
  return { mode: 'capability-token', tokenSha256: sha256(randomBytes(32).toString('hex')) };
}

async function connect(
  channel: Channel,
  connection: ListenerConnection,
  options: GatewayOptions,
): Promise<void> {
  // Nothing is read before there is a channel to pass it on to.
  channel.pause();
  const place = placeOf(connection.url);
  // What the listener passes on is what `clientOf` returned.
  const settings = (connection.share as GatewayClient | undefined)?.settings ?? options.settings;
  if (!place) return refuse(channel, 'machines are found at /e/NAME and /e/?SELECTOR');
  if (!settings) return refuse(channel, 'this gateway needs a token');
  try {
    const remote = await dialShared(settings, (fleet, ended) => dial(fleet, place, { settings, ended }));
    connection.introduced();
    options.log?.info({ connection: channel.label, machine: remote.label }, 'connected to a machine');
    const moving = relay(channel, remote);
    channel.resume();
    await moving;
  } catch (error) {
    refuse(channel, error instanceof Error ? error.message : String(error));
  }
}

async function dial(
  fleet: Fleet,
  place: GatewayPlace,
  { settings, ended }: { settings: FleetSettings; ended: () => void },
): Promise<Channel> {
  if ('machine' in place) return await fleet.dial(place.machine, { ended });
  // The same client reaches the same machine through every gateway: its session may be there.
  const sticky = settings.identity ?? DEFAULT_IDENTITY;
  const { name } = await fleet.choose(place.selector, { sticky });
  return await fleet.dial(name, { ended });
}

function refuse(channel: Channel, reason: string): void {
  channel.open({ message: () => undefined, closed: () => undefined });
  // The caller puts it into a sentence.
  channel.reject(reason.replace(/\.$/, ''));
}
