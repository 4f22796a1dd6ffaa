import type { Environment } from '../contract/index.js';
import type { AppResult } from '../protocol/index.js';
import type { EnvironmentTarget } from './environment-rules.js';

/** The environments an app server can reach. All connections share it. */
export interface AppEnvironments {
  /**
   * Opens an environment for one connection. The connection closes it when it ends, and with it everything it started.
   * Undefined means the default environment. Rejects with `unknownEnvironment` or `environmentUnavailable`.
   */
  open(environmentId: string | undefined): Promise<Environment>;
  /** Adds or replaces an environment and starts to connect. The target is valid. */
  add(target: EnvironmentTarget): Promise<void>;
  /** Connects if needed. */
  info(environmentId: string): Promise<AppResult<'environment/info'>>;
  /** Never connects. */
  status(environmentId: string): Promise<AppResult<'environment/status'>>;
}
