import { AppServer } from '../../app/index.js';
import {
  chooseEnvironment,
  configurationHome,
  EnvironmentManager,
  loadEnvironments,
  openChosen,
  type OpenEnvironment,
} from '../../environment/index.js';
import { leaveHost, version } from '../../host/index.js';
import { type AppSandboxPolicy, ExecError, isExecError } from '../../protocol/index.js';
import type { ServerLog } from '../../server/index.js';
import {
  LineChannel,
  type ListenAddress,
  parseListenAddress,
  WebSocketListener,
} from '../../transport/index.js';
import { ManagedEnvironments } from './app-environments.js';
import { createSandboxChooser, readProfiles } from '../../policy/index.js';
import { logAcceptErrors } from './accept-errors.js';
import { type AuthFlags, authFromFlags, plainTokenWarning } from '../options/auth-options.js';
import { guardTrees } from './guard-trees.js';
import { createLog, type LogFormat, type LogLevel } from '../log.js';
import { admission, hideOwnDoors } from './own-doors.js';
import { requireAddressSpace } from '../address-space.js';
import { makeThreadPool } from '../thread-pool.js';
import { spreadSafetyNet } from './safety-net.js';

export interface AppServerFlags extends AuthFlags {
  readonly listen: string;
  readonly environment?: string;
  readonly defaultSandbox: 'read-only' | 'workspace-write' | 'danger-full-access';
  readonly allowHost: string[];
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
}

const POLICIES: Record<AppServerFlags['defaultSandbox'], AppSandboxPolicy> = {
  'read-only': { type: 'readOnly' },
  'workspace-write': { type: 'workspaceWrite' },
  'danger-full-access': { type: 'dangerFullAccess' },
};

/** Output is read once, as it comes, so it need not be kept for later readers: there may be thousands of programs. */
const READ_ONCE = { retainedBytes: 16 * 1024, windowBytes: 256 * 1024 };

/** Serves until a signal arrives or the client on stdio disconnects. */
export async function runAppServer(flags: AppServerFlags): Promise<void> {
  requireAddressSpace();
  const threads = makeThreadPool();
  const address = parseListenAddress(flags.listen);
  if (address.kind === 'tcp' && address.secure) {
    throw new ExecError(
      'invalidConfiguration',
      'app-server does not support wss://; put a TLS proxy in front of it.',
    );
  }
  const auth = authFromFlags(flags);
  if (auth && address.kind === 'stdio') {
    throw new ExecError('invalidConfiguration', '--ws-auth cannot be used with --listen stdio.');
  }
  const log = await createLog({ format: flags.logFormat, level: flags.logLevel });
  spreadSafetyNet(log);
  guardTrees(log);
  hideOwnDoors({ files: [flags.wsTokenFile, flags.wsSharedSecretFile], addresses: [address] });
  await threads;
  const manager = environmentManager();
  const defaultId = await defaultEnvironment(manager, flags);
  const environments = new ManagedEnvironments(manager, { open, defaultId });
  const chooseSandbox = createSandboxChooser(POLICIES[flags.defaultSandbox], {
    profiles: readProfiles(configurationHome()),
  });
  const server = new AppServer({ environments, version, chooseSandbox, log });
  if (address.kind === 'stdio') {
    const shutDown = createShutdown(async () => {
      await server.close();
      await manager.close();
    });
    serveStdio(server, log, shutDown);
    return;
  }
  const listener = await listen(address, { auth, flags, server, log });
  const remedy = 'put a TLS proxy in front of a loopback address';
  const warning = plainTokenWarning(address, { encrypted: false, insecure: flags.insecure, remedy });
  if (warning !== null) log.warn({}, warning);
  createShutdown(async () => {
    await Promise.all([server.close(), listener.close()]);
    await manager.close();
  });
  process.stdout.write(`${listener.url}\n`);
  log.info({ url: listener.url }, 'listening');
}

const open: OpenEnvironment = (choice) => openChosen(choice, { local: READ_ONCE });

/** The environments from the configuration. */
function environmentManager(): EnvironmentManager {
  return new EnvironmentManager(loadEnvironments(), { open });
}

/** An id of the configuration, or an address. Null: there is none. */
async function defaultEnvironment(
  manager: EnvironmentManager,
  { environment }: AppServerFlags,
): Promise<string | null> {
  if (environment === undefined) return manager.defaultId;
  if (environment === 'none') return null;
  if (manager.config(environment)) return environment;
  const choice = await chooseEnvironment(environment).catch((cause: unknown) => {
    if (!isExecError(cause, 'environmentNotFound')) throw cause;
    throw new ExecError('invalidConfiguration', cause.message, { cause });
  });
  if ('url' in choice) await manager.add(choice);
  return choice.id;
}

async function listen(
  address: Exclude<ListenAddress, { kind: 'stdio' }>,
  options: {
    auth: ReturnType<typeof authFromFlags>;
    flags: AppServerFlags;
    server: AppServer;
    log: ServerLog;
  },
): Promise<WebSocketListener> {
  const { auth, flags, server, log } = options;
  return await WebSocketListener.open({
    address,
    auth,
    allowedHosts: flags.allowHost,
    admission: admission(log),
    paths: 'any',
    binaryMessages: 'ignored',
    onAcceptError: logAcceptErrors(log),
    onConnection: (channel, { introduced }) => void server.accept(channel, { introduced }),
  });
}

/** Serves one client over stdin and stdout, and shuts down when it disconnects. */
function serveStdio(server: AppServer, log: ServerLog, shutDown: () => void): void {
  const channel = new LineChannel({ label: 'stdio', input: process.stdin, output: process.stdout });
  // Stray console output must not end up between messages.
  console.log = console.error;
  void server.accept(channel).then(() => {
    if (channel.violation !== undefined)
      log.warn({ connection: channel.label, reason: channel.violation }, 'disconnected');
    shutDown();
  });
}

/** Returns a function that shuts everything down once. Signals call it too. */
function createShutdown(close: () => Promise<void>): () => void {
  let begun = false;
  const shutDown = (): void => {
    if (begun) return;
    begun = true;
    void close().then(() => {
      leaveHost();
      process.exit(0);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A second signal exits immediately: the watchdog cleans up.
      if (begun) process.exit(1);
      shutDown();
    });
  }
  return shutDown;
}
