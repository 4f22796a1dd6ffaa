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
import { capabilitiesDiscoverV2, capabilityRootsDiscoverV1, environmentConfigRead } from './discovery.js';
import { environmentInfo, environmentStatus, environmentUsage } from './environment.js';
import { fsSearch } from './file-search.js';
import { fsClose, fsOpen, fsReadBlock, fsWriteBlock } from './file-streams.js';
import {
  fsCopy,
  fsCreateDirectory,
  fsCreateSymlink,
  fsReadDirectory,
  fsRemove,
  fsRename,
  fsWalk,
} from './file-trees.js';
import { fsChanged, fsMissingChanged, fsUnwatch, fsWatch, fsWatchMissing } from './file-watches.js';
import { fsCanonicalize, fsGetMetadata, fsReadFile, fsWriteFile } from './files.js';
import { processHistory } from './history.js';
import { httpRequest, httpRequestBodyDelta } from './http.js';
import {
  processAttach,
  processDetach,
  processKeyboard,
  processKeyboardAsked,
  processKeyboardChanged,
  processResized,
  processShare,
  processShares,
  processUnshare,
  processWait,
} from './kept.js';
import {
  portAck,
  portClosed,
  portConnect,
  portData,
  portList,
  portOpened,
  portReset,
  portResume,
  portUnwatch,
  portWatch,
} from './ports.js';
import { processAck, processClosed, processExited, processOutput } from './process-events.js';
import { networkPolicyDecision, networkPolicyRequest } from './network.js';
import { processLines, processSearch } from './process-lines.js';
import { processStart } from './process-start.js';
import {
  processCloseStdin,
  processInspect,
  processList,
  processRead,
  processResize,
  processSignal,
  processTerminate,
  processWrite,
} from './process.js';
import { serverStatus, serverUpgrade } from './server.js';
import { initialize, initialized, sessionEnd } from './session.js';

/** Requests a client may send to an exec server. */
export const execMethods = {
  initialize,
  'environment/info': environmentInfo,
  'environment/status': environmentStatus,
  'environment/usage': environmentUsage,
  'server/status': serverStatus,
  'server/upgrade': serverUpgrade,
  'process/start': processStart,
  'process/read': processRead,
  'process/history': processHistory,
  'process/write': processWrite,
  'process/signal': processSignal,
  'process/terminate': processTerminate,
  'process/resize': processResize,
  'process/closeStdin': processCloseStdin,
  'process/list': processList,
  'process/inspect': processInspect,
  'process/attach': processAttach,
  'process/detach': processDetach,
  'process/keyboard': processKeyboard,
  'process/share': processShare,
  'process/shares': processShares,
  'process/unshare': processUnshare,
  'process/wait': processWait,
  'process/search': processSearch,
  'process/lines': processLines,
  'fs/readFile': fsReadFile,
  'fs/writeFile': fsWriteFile,
  'fs/createDirectory': fsCreateDirectory,
  'fs/createSymlink': fsCreateSymlink,
  'fs/getMetadata': fsGetMetadata,
  'fs/canonicalize': fsCanonicalize,
  'fs/readDirectory': fsReadDirectory,
  'fs/walk': fsWalk,
  'fs/remove': fsRemove,
  'fs/copy': fsCopy,
  'fs/rename': fsRename,
  'fs/open': fsOpen,
  'fs/readBlock': fsReadBlock,
  'fs/writeBlock': fsWriteBlock,
  'fs/close': fsClose,
  'fs/watchMissing': fsWatchMissing,
  'fs/watch': fsWatch,
  'fs/unwatch': fsUnwatch,
  'fs/search': fsSearch,
  'port/list': portList,
  'port/watch': portWatch,
  'port/unwatch': portUnwatch,
  'port/connect': portConnect,
  'port/resume': portResume,
  'environmentConfig/read': environmentConfigRead,
  'capabilityRoots/discoverV1': capabilityRootsDiscoverV1,
  'capabilities/discoverV2': capabilitiesDiscoverV2,
  'http/request': httpRequest,
  'changes/sets': changesSets,
  'changes/list': changesList,
  'changes/read': changesRead,
  'changes/diff': changesDiff,
  'changes/apply': changesApply,
  'changes/discard': changesDiscard,
} as const;

/** Notifications a client may send. */
export const execClientNotifications = {
  initialized,
  'process/ack': processAck,
  'session/end': sessionEnd,
  'port/data': portData,
  'port/ack': portAck,
  'port/reset': portReset,
} as const;

/** Notifications a server sends. */
export const execServerNotifications = {
  'process/output': processOutput,
  'process/exited': processExited,
  'process/closed': processClosed,
  'process/keyboardAsked': processKeyboardAsked,
  'process/keyboardChanged': processKeyboardChanged,
  'process/resized': processResized,
  'port/opened': portOpened,
  'port/closed': portClosed,
  'port/data': portData,
  'port/ack': portAck,
  'port/reset': portReset,
  'fs/missingChanged': fsMissingChanged,
  'fs/changed': fsChanged,
  'http/request/bodyDelta': httpRequestBodyDelta,
  'changes/updated': changesUpdated,
  'network/policyDecision': networkPolicyDecision,
} as const;

/** Requests a server sends to its client. */
export const execServerRequests = {
  'network/policyRequest': networkPolicyRequest,
} as const;

export type ExecMethods = typeof execMethods;
export type ExecMethodName = keyof ExecMethods;
export type ExecParams<Name extends ExecMethodName> = ParamsOf<ExecMethods[Name]>;
export type ExecParsedParams<Name extends ExecMethodName> = ParsedParamsOf<ExecMethods[Name]>;
export type ExecResult<Name extends ExecMethodName> = ResultOf<ExecMethods[Name]>;
export type ExecServerNotifications = typeof execServerNotifications;
