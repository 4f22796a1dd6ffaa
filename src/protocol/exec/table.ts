import type { ParamsOf, ParsedParamsOf, ResultOf } from '../method.js';
import { environmentInfo, environmentStatus } from './environment.js';
import {
  processAck,
  processClosed,
  processCloseStdin,
  processExited,
  processInspect,
  processList,
  processOutput,
  processRead,
  processResize,
  processSignal,
  processStart,
  processTerminate,
  processWrite,
} from './process.js';
import { initialize, initialized } from './session.js';

/** Requests a client may send to an exec server. */
export const execMethods = {
  initialize,
  'environment/info': environmentInfo,
  'environment/status': environmentStatus,
  'process/start': processStart,
  'process/read': processRead,
  'process/write': processWrite,
  'process/signal': processSignal,
  'process/terminate': processTerminate,
  'process/resize': processResize,
  'process/closeStdin': processCloseStdin,
  'process/list': processList,
  'process/inspect': processInspect,
} as const;

/** Notifications a client may send. */
export const execClientNotifications = {
  initialized,
  'process/ack': processAck,
} as const;

/** Notifications a server sends. */
export const execServerNotifications = {
  'process/output': processOutput,
  'process/exited': processExited,
  'process/closed': processClosed,
} as const;

export type ExecMethods = typeof execMethods;
export type ExecMethodName = keyof ExecMethods;
export type ExecParams<Name extends ExecMethodName> = ParamsOf<ExecMethods[Name]>;
export type ExecParsedParams<Name extends ExecMethodName> = ParsedParamsOf<ExecMethods[Name]>;
export type ExecResult<Name extends ExecMethodName> = ResultOf<ExecMethods[Name]>;
export type ExecServerNotifications = typeof execServerNotifications;
