import { createSandboxChooser } from '../../src/policy/index.js';
import { PassThrough } from 'node:stream';
import { AppServer, type AppServerOptions } from '../../src/app/index.js';
import { ManagedEnvironments } from '../../src/cli/commands/app-environments.js';
import { EnvironmentManager, LocalEnvironment, type OpenEnvironment } from '../../src/environment/index.js';
import { LineChannel } from '../../src/transport/index.js';
import { AppClient } from '../../testkit/app-client.mjs';
import type { OpenedApp } from '../../testkit/app-server.mjs';
import { lineWire, WireClient } from '../../testkit/wire-client.mjs';

export interface InProcessApp extends OpenedApp {
  readonly server: AppServer;
  /** Another client of the same server. */
  connect(): OpenedApp;
  /** What the server sends, for clients that want to read late. */
  readonly fromServer: PassThrough;
}

/** Whatever the id, this machine in a session of its own. */
export const openHere: OpenEnvironment = async ({ id }) => new LocalEnvironment({ id });

export function localEnvironments(open: OpenEnvironment = openHere): ManagedEnvironments {
  const config = { environments: [], includeLocal: true, defaultId: 'local' };
  return new ManagedEnvironments(new EnvironmentManager(config, { open }), { open, defaultId: 'local' });
}

/** The server in this process, its client at the other end of two streams of lines. */
export function openInProcess(options: Partial<AppServerOptions> = {}): InProcessApp {
  const chooseSandbox = createSandboxChooser({ type: 'dangerFullAccess' }, { profiles: {} });
  const server = new AppServer({
    environments: localEnvironments(),
    version: '0',
    chooseSandbox,
    ...options,
  });
  const first = connectLines(server);
  return {
    ...first,
    server,
    connect: () => connectLines(server),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function connectLines(server: AppServer): OpenedApp & { fromServer: PassThrough } {
  const toServer = new PassThrough();
  const fromServer = new PassThrough();
  const channel = new LineChannel({ label: 'lines', input: toServer, output: fromServer });
  const ended = server.accept(channel);
  const client = new WireClient({
    ...lineWire({ stdin: toServer, stdout: fromServer }),
    onClose: (listener) => void ended.then(() => listener({})),
  });
  const hangUp = (): void => {
    toServer.end();
  };
  return {
    client: new AppClient(client),
    fromServer,
    hangUp,
    [Symbol.asyncDispose]: async () => {
      hangUp();
      await ended;
    },
  };
}
