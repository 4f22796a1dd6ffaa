import type { ParamsOf, ParsedParamsOf, ResultOf } from '../method.js';
import {
  changesApply,
  changesDiff,
  changesDiscard,
  changesList,
  changesRead,
  changesSets,
  changesUpdated,
} from './changes.js';
import {
  commandExec,
  commandExecOutputDelta,
  commandExecResize,
  commandExecTerminate,
  commandExecWrite,
} from './command.js';
import { environmentAdd, environmentInfo, environmentStatus } from './environment.js';
import {
  fsChanged,
  fsCopy,
  fsCreateDirectory,
  fsGetMetadata,
  fsReadDirectory,
  fsReadFile,
  fsRemove,
  fsUnwatch,
  fsWatch,
  fsWriteFile,
} from './files.js';
import {
  processExited,
  processKill,
  processOutputDelta,
  processResizePty,
  processSpawn,
  processWriteStdin,
} from './process.js';
import { initialize, initialized } from './session.js';

/** Requests a client may send to an app server. */
export const appMethods = {
  initialize,
  'command/exec': commandExec,
  'command/exec/write': commandExecWrite,
  'command/exec/resize': commandExecResize,
  'command/exec/terminate': commandExecTerminate,
  'process/spawn': processSpawn,
  'process/writeStdin': processWriteStdin,
  'process/resizePty': processResizePty,
  'process/kill': processKill,
  'fs/readFile': fsReadFile,
  'fs/writeFile': fsWriteFile,
  'fs/createDirectory': fsCreateDirectory,
  'fs/getMetadata': fsGetMetadata,
  'fs/readDirectory': fsReadDirectory,
  'fs/remove': fsRemove,
  'fs/copy': fsCopy,
  'fs/watch': fsWatch,
  'fs/unwatch': fsUnwatch,
  'environment/add': environmentAdd,
  'environment/info': environmentInfo,
  'environment/status': environmentStatus,
  'changes/sets': changesSets,
  'changes/list': changesList,
  'changes/read': changesRead,
  'changes/diff': changesDiff,
  'changes/apply': changesApply,
  'changes/discard': changesDiscard,
} as const;

/** Notifications a client may send. */
export const appClientNotifications = { initialized } as const;

/** Notifications an app server sends. */
export const appServerNotifications = {
  'command/exec/outputDelta': commandExecOutputDelta,
  'process/outputDelta': processOutputDelta,
  'process/exited': processExited,
  'fs/changed': fsChanged,
  'changes/updated': changesUpdated,
} as const;

export type AppMethods = typeof appMethods;
export type AppMethodName = keyof AppMethods;
export type AppParams<Name extends AppMethodName> = ParamsOf<AppMethods[Name]>;
export type AppParsedParams<Name extends AppMethodName> = ParsedParamsOf<AppMethods[Name]>;
export type AppResult<Name extends AppMethodName> = ResultOf<AppMethods[Name]>;
export type AppServerNotifications = typeof appServerNotifications;
export type AppServerNotificationName = keyof AppServerNotifications;
