export type { Environment } from './environment.js';
export type { FileSystem } from './file-system.js';
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
