import type { Lease, SandboxType } from '../protocol/index.js';
import type { ProcessUsage } from './process-event.js';

/** A row in the process list. */
export interface ProcessSummary {
  readonly processId: string;
  readonly pid: number | null;
  readonly argv: string[];
  readonly tty: boolean;
  readonly startedAtMs: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  /** Present if it may outlive its session. */
  readonly lease?: Lease | undefined;
  /** With `lease`: how many sessions use it. */
  readonly attached?: number | undefined;
  /** If the machine reports it, and the process is ours. */
  readonly details?: ProcessDetails | undefined;
}

/** What else is known about a process of ours. */
export interface ProcessDetails {
  /** Where it was started, as a `file:` URI. */
  readonly cwd?: string | undefined;
  /** How the client introduced itself that started it. */
  readonly clientName: string;
  readonly sandboxType: SandboxType;
  /** All of its output is kept on disk, with times. */
  readonly recorded: boolean;
  /** Null while it runs, or if unknown. */
  readonly endedAtMs: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** What it has printed so far, if the machine counts it. */
  readonly outputBytes?: number | undefined;
  /** What it cost; absent while it runs, or if unknown. */
  readonly usage?: ProcessUsage | undefined;
  /** Its terminal waits until somebody types; null if unknown. */
  readonly waitsForInput: boolean | null;
}
