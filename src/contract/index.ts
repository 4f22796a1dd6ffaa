export type { Environment } from './environment.js';
export type { SearchMatch, SearchPage, SearchQuery } from './file-search.js';
export type {
  DirectoryEntry,
  FileHandle,
  FileMetadata,
  FileOptions,
  FileSystem,
  LinkOptions,
  WalkOptions,
  WalkResult,
} from './file-system.js';
export type { FileChange, FileChanges, FileWatch, MissingWatch, WatchOptions } from './file-watch.js';
export type {
  ExecProcess,
  ExitedEvent,
  OutputStream,
  ProcessEnd,
  ProcessEvent,
  ProcessSpec,
  ProcessSummary,
  ReadRequest,
  ReadResult,
  SignalName,
  TerminalSize,
  WriteStatus,
} from './process.js';
