import type { Environment, QueuedInput } from '../contract/index.js';
import type { AppServerNotificationName, AppServerNotifications, ParamsOf } from '../protocol/index.js';
import type { CapturedRoom } from './captured-room.js';
import type { HeldPolicies } from './held-policies.js';
import type { AppLog } from './log.js';
import type { SandboxChooser } from '../policy/index.js';

/** What handlers need from their connection. */
export interface HandlerContext {
  /** Undefined or null: the default environment. */
  environment(environmentId: string | null | undefined): Promise<Environment>;
  notify<Name extends AppServerNotificationName>(
    method: Name,
    params: ParamsOf<AppServerNotifications[Name]>,
  ): void;
  /** The same with params that are already JSON: building an object for output is too slow. */
  notifyText(method: AppServerNotificationName, params: string): void;
  /** Undefined while the client keeps up; otherwise resolves once it has caught up. */
  room(): Promise<void> | undefined;
  /** Aborted when the connection ends. */
  readonly signal: AbortSignal;
  /** The input that programs of the connection have not read. */
  readonly queued: QueuedInput;
  /** The output that programs of the connection printed and no answer contains yet. */
  readonly captured: CapturedRoom;
  readonly chooseSandbox: SandboxChooser;
  /** The policies of commands that hold their changes. */
  readonly held: HeldPolicies;
  readonly log: AppLog;
}
