export { ConfinedEnvironment } from './confined-environment.js';
export { ChangeLog, type ChangeReader, MAX_PENDING_CHANGES } from './change-log.js';
export { CHANGE_LETTERS } from './change-letters.js';
export type {
  AppliedChanges,
  ApplyChangesOptions,
  ChangeCounts,
  ChangeDiff,
  ChangeSet,
  ChangeSetInfo,
  ChangesLimits,
  ChangesPage,
  ChangesUpdate,
  DiffChangesOptions,
  DiffPage,
  HeldChange,
  ListChangesOptions,
  ReadChangeOptions,
} from './changes.js';
export type { Environment } from './environment.js';
export { withFixedTemporary } from './fixed-temporary.js';
export { EnvironmentHandle, noPorts, nothingKept } from './environment-handle.js';
export {
  entriesOf,
  type HistoryEnd,
  type HistoryEntry,
  type HistoryEvent,
  type HistoryOptions,
  type HistoryPage,
  type HistoryRequest,
  type HistoryStart,
} from './history.js';
export type { SearchMatch, SearchPage, SearchQuery } from './file-search.js';
export type {
  CopyOptions,
  CreateDirectoryOptions,
  CreateSymlinkOptions,
  DirectoryEntry,
  FileHandle,
  FileMetadata,
  FileOptions,
  FileSystem,
  LinkDetails,
  LinkOptions,
  MetadataOptions,
  OpenFileOptions,
  PermissionOptions,
  TimeOptions,
  WalkOptions,
  WalkResult,
  WriteFileOptions,
} from './file-system.js';
export type { FileChange, FileChanges, FileWatch, MissingWatch, WatchOptions } from './file-watch.js';
export type { ExecProcess, ReadRequest, ReadResult, TerminalState, WriteStatus } from './process.js';
export type {
  ExitedEvent,
  OutputStream,
  ProcessEnd,
  ProcessEvent,
  ProcessUsage,
  ResourceUsage,
  SignalName,
  TerminalSize,
} from './process-event.js';
export type { AttachOptions, ProcessSpec } from './process-spec.js';
export type { ProcessDetails, ProcessSummary } from './process-summary.js';
export { HOME } from './process-spec.js';
export { countNewlines } from './count-newlines.js';
export type { ChunkPlace, LineMark, LineSource, MarkRequest } from './line-source.js';
export type {
  LineOptions,
  LinesPage,
  LinesRequest,
  LinesState,
  OutputGap,
  OutputLine,
  OutputMatches,
  OutputSearch,
} from './process-lines.js';
export type { KeyboardNews, ProcessKeyboard, TerminalScreen } from './viewers.js';
export type { ArchivedOutput, LogArchive } from './log-archive.js';
export { ProcessHandle } from './process-handle.js';
export {
  DEFAULT_RETAINED_BYTES,
  DEFAULT_WINDOW_BYTES,
  ProcessLog,
  MAX_ARCHIVED_READ_BYTES,
} from './process-log.js';
export type { LogHold } from './log-holds.js';
export { positionAfter, readLog, type ReadableLog, seqBefore, timeOf } from './read-log.js';
export type { ResumedLog } from './resumed-log.js';
export type { OutputPlace } from './output-place.js';
export { endOf, type ExitFacts, exitFacts, logEnd } from './process-end.js';
export { ReaderHolds } from './reader-holds.js';
export {
  CommandFailure,
  type CommandInput,
  type CommandOptions,
  type CommandTag,
  type CommandTemplate,
  isCommandFailure,
  type LinesOptions,
  type OutputEncoding,
  type OutputOf,
  type RunOptions,
  type RunResult,
  type TemplateValue,
} from './run/index.js';
export { QueuedInput, STDIN_SOFT_LIMIT_BYTES } from './queued-input.js';
export { type InputQueue, ServerInput } from './server-input.js';
export { deniedHosts } from './denied-hosts.js';
export {
  type ConnectOptions,
  type ForwardOptions,
  type PortForward,
  type ListeningPort,
  PortChanges,
  type PortEvent,
  type PortsOptions,
  type PortWatch,
} from './ports/index.js';
export type { NetworkAnswer, NetworkAsker, NetworkQuestion } from './network-questions.js';
