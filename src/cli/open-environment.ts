import { RemoteEnvironment } from '../client/index.js';
import { LocalEnvironment, type OpenEnvironment } from '../environment/index.js';
import { dialWebSocket, startProgram } from '../transport/index.js';

const CLIENT_NAME = 'execwire';

/** Opens an environment as it is configured: this machine, one behind an address, or one behind a program. */
export const openEnvironment: OpenEnvironment = async (config) => {
  const { id } = config;
  if ('url' in config) {
    const { url, authBearerToken, connectTimeoutMs, initializeTimeoutMs } = config;
    const dial = () =>
      dialWebSocket(url, {
        authBearerToken,
        ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
      });
    return await RemoteEnvironment.connect({
      id,
      dial,
      resume: true,
      clientName: CLIENT_NAME,
      ...(initializeTimeoutMs === undefined ? {} : { initializeTimeoutMs }),
    });
  }
  if ('program' in config) {
    const { program, args, cwd, initializeTimeoutMs } = config;
    const env = { ...process.env, ...config.env };
    return await RemoteEnvironment.connect({
      id,
      dial: () => startProgram({ program, args, cwd, env }),
      // The program is the server: with it the session ends.
      resume: false,
      clientName: CLIENT_NAME,
      ...(initializeTimeoutMs === undefined ? {} : { initializeTimeoutMs }),
    });
  }
  return new LocalEnvironment();
};
