import type {
  ExecMethodName,
  ExecParsedParams,
  ExecResult,
  ExecServerNotifications,
  ParamsOf,
} from '../../protocol/index.js';
import type { BytesResult } from '../../rpc/index.js';

/** Sends a notification to the client. A promise means the connection is full: await it before the next. */
export type Notify = <Name extends keyof ExecServerNotifications>(
  method: Name,
  params: ParamsOf<ExecServerNotifications[Name]>,
) => void | Promise<void>;

/** What handlers know of the connection they work for. */
export interface ConnectionContext {
  readonly notify: Notify;
  /** Aborted when the connection ends; whatever belongs to it is then released. */
  readonly signal: AbortSignal;
}

/** One function per method, typed by the method table. `bytes` stands for the bulky member, if it came as bytes. */
export type Handlers<Names extends ExecMethodName> = {
  readonly [Name in Names]: (
    params: ExecParsedParams<Name>,
    bytes?: Uint8Array,
  ) => Promise<ExecResult<Name> | BytesResult>;
};
