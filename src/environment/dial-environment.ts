import { startProgram } from '../transport/program.js';
import { dialWebSocket } from '../transport/websocket-dial.js';
import type { EnvironmentConfig, UrlEnvironment } from './configuration.js';

/** A channel to a machine, however it is reached. */
export type DialedChannel = Awaited<ReturnType<typeof dialWebSocket>>;

/** Opens a channel to a configured machine: over a WebSocket, or to a program started for it. */
export async function dialEnvironment(
  config: EnvironmentConfig,
  options: { onLog?: (message: string) => void } = {},
): Promise<DialedChannel> {
  const { onLog } = options;
  if (isUrlEnvironment(config)) {
    const { url, authBearerToken, websocketRequestId: requestId, connectTimeoutMs } = config;
    return await dialWebSocket(url, {
      authBearerToken,
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
