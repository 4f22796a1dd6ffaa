import type {
  ExecMethodName,
  ExecParsedParams,
  ExecResult,
  ExecServerNotifications,
  ParamsOf,
} from '../../protocol/index.js';
import type { MissingWatchSlot } from './missing-watch.js';
import type { BytesResult } from '../../rpc/index.js';

/**
 * Sends a notification to the client. If it returns a promise, the connection is full: await it before sending the
 * next.
 */
export type Notify = <Name extends keyof ExecServerNotifications>(
  method: Name,
  params: ParamsOf<ExecServerNotifications[Name]>,
) => void | Promise<void>;

export interface NotificationStream {
  /** Await it before sending the next. */
  readonly notify: Notify;
  close(): void;
}

/** What handlers need of their connection. */
export interface ConnectionContext {
  readonly notify: Notify;
  /** For a long series of notifications: each takes its turn with the output of processes. */
  readonly openStream: () => NotificationStream;
  /** Bytes the client has not read yet. */
  readonly unsentBytes: () => number;
  /** Registers a check for something that another server could not continue with. */
  readonly owns: (something: () => boolean) => void;
  /** Where the `fs/watchMissing` of the connection is, which another server would have to repeat. */
  readonly watchesMissing: (slot: MissingWatchSlot) => void;
  /** Aborted when the connection ends, to release everything it owns. */
  readonly signal: AbortSignal;
}

/** One function per method, typed by the method table. `bytes` replaces the bulky member if it was sent as bytes. */
export type Handlers<Names extends ExecMethodName> = {
  readonly [Name in Names]: (
    params: ExecParsedParams<Name>,
    bytes?: Uint8Array,
  ) => Promise<ExecResult<Name> | BytesResult>;
};
