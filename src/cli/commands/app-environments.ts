import type { AppEnvironments, EnvironmentTarget } from '../../app/index.js';
import type { Environment } from '../../contract/index.js';
import type { EnvironmentManager, OpenEnvironment } from '../../environment/index.js';
import { type AppResult, ExecError, isExecError } from '../../protocol/index.js';

/** The configured environments for app servers. Each connection opens its own instance of those it uses. */
export class ManagedEnvironments implements AppEnvironments {
  readonly #manager: EnvironmentManager;
  readonly #open: OpenEnvironment;
  readonly #defaultId: string | null;

  constructor(manager: EnvironmentManager, options: { open: OpenEnvironment; defaultId: string | null }) {
    this.#manager = manager;
    this.#open = options.open;
    this.#defaultId = options.defaultId;
  }

  async open(environmentId: string | undefined): Promise<Environment> {
    const id = environmentId ?? this.#defaultId;
    if (id === null) throw new ExecError('environmentUnavailable', 'local environment is not configured');
    const config = this.#manager.config(id);
    if (!config) throw unknownEnvironment(id);
    return await this.#open(config).catch((cause: unknown) => {
      throw unavailable(id, cause);
    });
  }

  async add({ environmentId, ...target }: EnvironmentTarget): Promise<void> {
    await this.#manager.add({ id: environmentId, ...target });
    // Start connecting; `status` reports the outcome.
    this.#manager.get(environmentId).catch(() => undefined);
  }

  async info(environmentId: string): Promise<AppResult<'environment/info'>> {
    try {
      const environment = await this.#manager.get(environmentId);
      const { shell, cwd } = await environment.info();
      return { shell, cwd: cwd ?? null };
    } catch (error) {
      if (isExecError(error, 'environmentNotFound')) throw unknownEnvironment(environmentId);
      throw unavailable(environmentId, error);
    }
  }

  async status(environmentId: string): Promise<AppResult<'environment/status'>> {
    const state = this.#manager.status(environmentId);
    // The local machine is always connected.
    if (state.status === 'pending' && this.#isLocal(environmentId)) return { status: 'ready' };
    return state;
  }

  #isLocal(environmentId: string): boolean {
    const config = this.#manager.config(environmentId);
    return config !== undefined && !('url' in config) && !('program' in config);
  }
}

function unknownEnvironment(environmentId: string): ExecError {
  return new ExecError('unknownEnvironment', `unknown environment id \`${environmentId.slice(0, 64)}\``);
}

function unavailable(environmentId: string, cause: unknown): ExecError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `failed to reach environment \`${environmentId}\`: ${why}`;
  return new ExecError('environmentUnavailable', message, { cause });
}
