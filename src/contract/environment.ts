import type { EnvironmentInfo, Sandbox } from '../protocol/index.js';
import type { FileSystem } from './file-system.js';
import type { ExecProcess, ProcessSpec, ProcessSummary } from './process.js';

/** A machine to run processes on and touch files of. Nothing above this line can tell which kind it is. */
export interface Environment extends AsyncDisposable {
  readonly id: string;
  info(): Promise<EnvironmentInfo>;
  /** Resolves as soon as the child exists. A failed start rejects and leaves nothing behind. */
  start(spec: ProcessSpec): Promise<ExecProcess>;
  list(): Promise<ProcessSummary[]>;
  readonly files: FileSystem;
  /** The policy for everything that names no other one. Absent: there is none. */
  readonly sandbox?: Sandbox;
  /** True once the machine is out of reach for good: open the environment again. Absent where that cannot be. */
  readonly lost?: boolean;
  /**
   * Calls back with false when the connection is lost and being made again, and with true when it is back. Returns how
   * to stop that. Absent where there is no connection to lose.
   */
  watchConnection?(listener: (connected: boolean) => void): () => void;
  /** Ends everything this environment started. Idempotent. */
  close(): Promise<void>;
}
