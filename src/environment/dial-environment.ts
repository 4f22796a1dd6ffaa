import { startProgram } from '../transport/start-program.js';
import { dialWebSocket } from '../transport/websocket-dial.js';
import { fleetSource } from './configuration-home.js';
import { isFleetUrl, registryPlaceOf } from './environment-names.js';
import { bearerTokenOf } from './bearer-token.js';
import type { EnvironmentConfig, UrlEnvironment } from './configuration.js';

/** A channel to a machine, however it is reached. */
export type DialedChannel = Awaited<ReturnType<typeof dialWebSocket>>;

interface DialEnvironmentOptions {
  readonly onLog?: (message: string) => void;
  /** Environment variables to read the configuration from. Default: `process.env`. */
  readonly variables?: NodeJS.ProcessEnv | undefined;
}

/**
 * Returns a function that dials a machine, and the same one each time: a session continues where it began, also if the
 * machine was chosen by its labels.
 */
export function createDialler(
  config: EnvironmentConfig,
  options: DialEnvironmentOptions = {},
): () => Promise<DialedChannel> {
  if (!isUrlEnvironment(config) || !isFleetUrl(config.url)) return () => dialEnvironment(config, options);
  const { url, connectTimeoutMs } = config;
  let dialler: (() => Promise<DialedChannel>) | undefined;
  return async () => {
    const { fleetDialler } = await import('../fleet/index.js');
    dialler ??= fleetDialler(url, { source: fleetSource(options.variables), connectTimeoutMs });
    return await dialler();
  };
}

/** Opens a channel to a configured machine: over a WebSocket, in a fleet, through a registry, or to a program started for it. */
export async function dialEnvironment(
  config: EnvironmentConfig,
  options: DialEnvironmentOptions = {},
): Promise<DialedChannel> {
  const { onLog } = options;
  if (isUrlEnvironment(config) && isFleetUrl(config.url)) return await createDialler(config, options)();
  const place = isUrlEnvironment(config) ? registryPlaceOf(config.url) : null;
  if (isUrlEnvironment(config) && place) {
    const token = (await bearerTokenOf(config, onLog)) ?? '';
    const { dialRegistry } = await import('../registry/client/index.js');
    return await dialRegistry({ ...place, token });
  }
  if (isUrlEnvironment(config)) {
    const { url, websocketRequestId: requestId, connectTimeoutMs } = config;
    return await dialWebSocket(url, {
      authBearerToken: await bearerTokenOf(config, onLog),
      requestId,
      ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    });
  }
  const { program, args, env, cwd } = config;
  return await startProgram({
    program,
    args,
    env: { ...process.env, ...env },
    cwd,
    ...(onLog ? { onStderr: onLog, onWarning: onLog } : {}),
  });
}

/** True for a machine behind a URL. Its session can be resumed, because the server outlives the connection. */
export function isUrlEnvironment(config: EnvironmentConfig): config is UrlEnvironment {
  return 'url' in config;
}
