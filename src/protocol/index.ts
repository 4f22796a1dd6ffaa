/**
 * The wire: method tables with their schemas, payload types and the error catalogue.
 *
 * @module execwire/protocol
 */

export type { NetworkDecision, NetworkDenial, NetworkQuestion, NetworkRules } from './exec/network.js';
export { AppSandboxPolicy } from './app/sandbox-policy.js';
export {
  type AppMethodName,
  type AppMethods,
  type AppParams,
  type AppParsedParams,
  type AppResult,
  type AppServerNotificationName,
  type AppServerNotifications,
  appClientNotifications,
  appMethods,
  appServerNotifications,
} from './app/table.js';
export { decodeBase64, decodeBase64Into, encodeBase64 } from './base64.js';
export type { ChangeCounts, HeldChange } from './exec/changes.js';
export { EnvironmentInfo } from './exec/environment.js';
export { KEPT_SESSION, Lease } from './exec/kept.js';
export { readStreamMessage, STREAM_METHODS, type StreamMessage } from './exec/stream-messages.js';
export { EnvPolicy, ProcessLimits } from './exec/process-start.js';
export {
  NetworkPermission,
  PermissionEntry,
  PermissionPath,
  Permissions,
  Sandbox,
  SandboxType,
  SpecialPath,
} from './exec/sandbox.js';
export type { ClientCapabilities, ServerCapabilities } from './exec/session.js';
export {
  type ExecMethodName,
  type ExecMethods,
  type ExecParams,
  type ExecParsedParams,
  type ExecResult,
  type ExecServerNotifications,
  execClientNotifications,
  execMethods,
  execServerNotifications,
  execServerRequests,
} from './exec/table.js';
export { fileUri, isFileUri, parseFileUri, pathBytes, pathText } from './file-uri.js';
export {
  type ErrorCode,
  type ErrorData,
  ExecError,
  errorCatalogue,
  isExecError,
  rpcNumberOf,
  type WireErrorCode,
} from './errors.js';
export {
  type AnswerSize,
  type MethodTable,
  type NotificationMethod,
  type NotificationTable,
  notification,
  type OrderKey,
  type ParamsOf,
  type ParsedParamsOf,
  type PathOrder,
  type RequestMethod,
  type ResultOf,
  request,
  type SideMembers,
} from './method.js';
