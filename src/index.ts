export type {
  Environment,
  ExecProcess,
  ExitedEvent,
  FileSystem,
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
} from './contract/index.js';
export {
  type EnvironmentConfig,
  EnvironmentManager,
  type EnvironmentsConfig,
  LocalEnvironment,
  loadEnvironments,
  openChosen,
  openEnvironment,
  type OpenOptions,
} from './environment/index.js';
export { type ErrorCode, ExecError, isExecError } from './protocol/index.js';
