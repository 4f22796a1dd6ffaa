import type { Environment, NetworkAsker } from '../contract/index.js';
import type { NamedPolicy } from '../policy/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';
import type { EnvironmentConfig, EnvironmentsConfig } from './configuration.js';
import { configurationHome, environmentsPath, fileExists, isConfigured } from './configuration-home.js';
import { isServerUrl, LOCAL_ID, NONE_ID, REMOTE_ID } from './environment-names.js';
import type { LocalEnvironmentOptions } from './local.js';

/** This machine, or a configured one. */
export type EnvironmentChoice = EnvironmentConfig | { readonly id: typeof LOCAL_ID };

export interface OpenOptions {
  /** For servers that require a token. Used only with a URL; configured environments have their own. */
  readonly authBearerToken?: string | undefined;
  /** The same, in a file that is read with each connection, so that the token can be replaced. */
  readonly tokenFile?: string | undefined;
  /** Shown in the server's log. */
  readonly clientName?: string;
  /**
   * How long to try reconnecting after a lost connection before calls fail. Default 25 s, since servers keep a session
   * for 30 s, or 65 s after the line went silent.
   */
  readonly giveUpAfterMs?: number;
  /** Receives messages from the connection, or from the program that carries it. */
  readonly onLog?: (message: string) => void;
  /** Environment variables to read the configuration from. Default: `process.env`. */
  readonly variables?: NodeJS.ProcessEnv;
  /**
   * The policy for every process and file operation that does not specify its own: `read-only`, `workspace-write`, a
   * profile from `permissions.toml`, or a complete sandbox. A machine that cannot enforce it refuses. Default: none.
   */
  readonly sandbox?: string | SandboxOptions | Sandbox | undefined;
  /**
   * Decides about hosts that the rules of a program do not know, if they have `ask`. The connection waits for up to two
   * minutes. Without this, or if it throws, the host is denied.
   */
  readonly onNetworkRequest?: NetworkAsker | undefined;
  /**
   * Resolve as soon as the machine can be reached, before it has answered the handshake. The first call is then sent
   * right after the handshake, which saves a round trip; if the machine refuses the session, that call fails with the
   * reason. Default false.
   */
  readonly early?: boolean;
  /**
   * Called with a remote environment at that moment, without resolving yet.
   *
   * @internal
   */
  readonly onOpening?: (environment: Environment) => void;
  /**
   * What processes of this machine hold in memory.
   *
   * @internal
   */
  readonly local?: Pick<LocalEnvironmentOptions, 'retainedBytes' | 'windowBytes'>;
}

/** A named policy, and the directory that counts as the project. */
export interface SandboxOptions extends NamedPolicy {
  /** An absolute path or a `file:` URI on the environment's machine. Default: the environment's working directory. */
  readonly workspace?: string | undefined;
}

/**
 * Opens a machine: `local`, a `ws://`, `wss://` or `unix://` URL, `fleet:NAME` or `fleet:?SELECTOR`, the id of a configured
 * environment or, without a target, the configured default. Close it when done; that ends everything it started.
 */
export async function openEnvironment(target?: string, options: OpenOptions = {}): Promise<Environment> {
  const choice = await chooseEnvironment(target, options);
  const environment = await openChosen(choice, options).catch((cause: unknown) => {
    throw unreachable(choice, { target, cause });
  });
  if (options.sandbox === undefined) return environment;
  const { withDefaultSandbox } = await import('./default-sandbox.js');
  return await withDefaultSandbox(environment, options.sandbox, options);
}

/** Adds which of several machines could not be reached; the code is kept. */
export function unreachable(
  { id }: EnvironmentChoice,
  { target, cause }: { target: string | undefined; cause: unknown },
): unknown {
  // The error for a URL already names it.
  if (!isExecError(cause) || (target !== undefined && isServerUrl(target))) return cause;
  const message = `Environment "${id}" cannot be reached: ${cause.message}`;
  return new ExecError(cause.code, message, { data: { ...cause.data, environmentId: id }, cause });
}

/** Determines what a target refers to. Fails for ids that are not configured; nothing is ever substituted. */
export async function chooseEnvironment(
  target: string | undefined,
  options: OpenOptions = {},
): Promise<EnvironmentChoice> {
  const { variables } = options;
  if (target === LOCAL_ID || (target === undefined && !isConfigured(variables))) return { id: LOCAL_ID };
  if (target !== undefined && isServerUrl(target)) {
    const { authBearerToken, tokenFile } = options;
    return {
      id: REMOTE_ID,
      url: target,
      ...(authBearerToken === undefined ? {} : { authBearerToken }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
    };
  }
  if (target?.includes('://')) {
    // Does not repeat the address, which may contain credentials.
    const instead = /^https?:/.test(target)
      ? ' For a server at http://…, use ws://…; for https://…, wss://….'
      : '';
    throw new ExecError(
      'invalidConfiguration',
      'The address must be ws://HOST:PORT, wss://…, unix:///PATH, fleet:NAME or https://HOST/cloud/environment/ID.' +
        instead,
    );
  }
  const { loadEnvironments } = await import('./providers.js');
  const config = loadEnvironments(variables);
  const id = target ?? config.defaultId;
  if (id === null || id === NONE_ID) {
    throw new ExecError('environmentNotFound', 'There is no default environment; name one.');
  }
  if (id === LOCAL_ID) return { id: LOCAL_ID };
  const found = config.environments.find((each) => each.id === id);
  if (found) return found;
  throw notConfigured(id.slice(0, 64), config, configurationHome(variables));
}

/** What `ssh` or `curl` would take for an address. */
const HOST_AND_PORT = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/;

function notConfigured(id: string, config: EnvironmentsConfig, home: string): ExecError {
  const known = [...(config.includeLocal ? [LOCAL_ID] : []), ...config.environments.map((each) => each.id)];
  const path = environmentsPath(home);
  const file = fileExists(path) ? path : `${path} (which does not exist)`;
  const address = HOST_AND_PORT.test(id) ? ` For an address, use: ws://${id}` : '';
  return new ExecError(
    'environmentNotFound',
    `No environment "${id}" is configured. Known: ${known.join(', ') || 'none'}. They are configured in ${file}.${address}`,
    { data: { environmentId: id } },
  );
}

/** Opens the chosen environment. `EnvironmentManager` uses it too. */
export async function openChosen(choice: EnvironmentChoice, options: OpenOptions = {}): Promise<Environment> {
  if (isLocal(choice)) {
    // Loaded lazily, so that programs that only use other machines do without the code that spawns on this one.
    const { LocalEnvironment } = await import('./local.js');
    return new LocalEnvironment({ ...options.local, onNetworkRequest: options.onNetworkRequest });
  }
  const { RemoteEnvironment } = await import('../client/index.js');
  const { createDialler, isUrlEnvironment } = await import('./dial-environment.js');
  const { onLog, clientName, giveUpAfterMs, onNetworkRequest, early = false, onOpening } = options;
  const { initializeTimeoutMs } = choice;
  const log = onLog ? { onLog } : {};
  const settings = {
    id: choice.id,
    dial: createDialler(choice, { ...log, variables: options.variables }),
    // A server started as a program dies with its connection: a new one would know nothing about the old one's
    // processes.
    resume: isUrlEnvironment(choice),
    ...log,
    ...(clientName === undefined ? {} : { clientName }),
    ...(onNetworkRequest === undefined ? {} : { onNetworkRequest }),
    ...(giveUpAfterMs === undefined ? {} : { giveUpAfterMs }),
    ...(initializeTimeoutMs === undefined ? {} : { initializeTimeoutMs }),
    ...(isUrlEnvironment(choice) && choice.connectTimeoutMs !== undefined
      ? { connectTimeoutMs: choice.connectTimeoutMs }
      : {}),
  };
  if (!early && !onOpening) return await RemoteEnvironment.connect(settings);
  return await new Promise<Environment>((resolve, reject) => {
    const announce = (environment: Environment): void => {
      if (early) resolve(environment);
      onOpening?.(environment);
    };
    RemoteEnvironment.connectEarly({ ...settings, onOpening: announce }).then(resolve, reject);
  });
}

/** True for this machine itself. */
export function isLocal(choice: EnvironmentChoice): choice is { readonly id: typeof LOCAL_ID } {
  return !('url' in choice) && !('program' in choice);
}
