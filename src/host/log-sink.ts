import { exitFacts, type ProcessLog } from '../contract/index.js';
import type { NetworkDenials } from './network-denials.js';
import type { ProcessEnding } from './process-ending.js';
import type { RunRecord } from './run-record.js';
import type { SandboxedLaunch } from './sandbox/index.js';
import type { ChildSink } from './spawn/index.js';

export interface LogSinkOptions {
  readonly log: ProcessLog;
  readonly ending: ProcessEnding;
  readonly confined: SandboxedLaunch | undefined;
  readonly denials: NetworkDenials | undefined;
  /** Whether the log says what the process cost. */
  readonly reportsUsage: boolean;
  /** Told before the log is. */
  readonly run: RunRecord;
  /** Called after the last event. */
  readonly closed: () => void;
}

/** Writes what a child does to its log, with what its sandbox has to say about it. */
export function logSink(options: LogSinkOptions): ChildSink {
  const { log, ending, confined, denials, run } = options;
  return {
    output: (stream, bytes) => {
      confined?.heard(stream, bytes);
      log.appendOutput(stream, bytes);
    },
    exited: (end) => {
      const cost = end.usage && { ...end.usage, outputBytes: log.totalBytes };
      run.exited(cost);
      confined?.over();
      const networkDenied = denials?.list;
      const wasKept = networkDenied !== undefined && networkDenied.length > 0 && end.exitCode !== 0;
      const sandboxDenied = wasKept || (confined?.denied(end.exitCode) ?? false);
      const { timedOut, changesFull } = ending;
      const usage = options.reportsUsage ? cost : undefined;
      log.appendExited(exitFacts({ ...end, timedOut, changesFull, sandboxDenied, networkDenied, usage }));
    },
    closed: () => {
      ending.over();
      log.appendClosed();
      options.closed();
    },
  };
}
