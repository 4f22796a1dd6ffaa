import type { Environment } from '../contract/index.js';
import type { AppServerNotificationName, AppServerNotifications, ParamsOf } from '../protocol/index.js';
import type { AppLog } from './log.js';
import type { SandboxChooser } from '../policy/index.js';

/** What methods need of the connection they came in on. */
export interface HandlerContext {
  /** Absent or null: the default. */
  environment(environmentId: string | null | undefined): Promise<Environment>;
  notify<Name extends AppServerNotificationName>(
    method: Name,
    params: ParamsOf<AppServerNotifications[Name]>,
  ): void;
  /** The same with params that are JSON already: output is not worth an object. */
  notifyText(method: AppServerNotificationName, params: string): void;
  /** Undefined while the client keeps up; otherwise resolves when it has read enough. */
  room(): Promise<void> | undefined;
  /** Aborted when the connection ends. */
  readonly signal: AbortSignal;
  readonly chooseSandbox: SandboxChooser;
  readonly log: AppLog;
}
