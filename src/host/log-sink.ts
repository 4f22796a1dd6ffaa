import { exitFacts, type ProcessLog, type ProcessUsage } from '../contract/index.js';
import type { NetworkDenials } from './managed-network.js';
import type { ProcessEnding } from './process-ending.js';
import type { SandboxedLaunch } from './sandbox/index.js';
import type { ChildSink } from './spawn/index.js';

export interface LogSinkOptions {
  readonly log: ProcessLog;
  readonly ending: ProcessEnding;
  readonly confined: SandboxedLaunch | undefined;
  readonly denials: NetworkDenials | undefined;
  /** Called when the child has ended, before the log says so. */
  readonly exited: (usage: ProcessUsage | undefined) => void;
  /** Whether the log says what the process cost. */
  readonly reportsUsage: boolean;
  /** Output so far. */
  readonly outputBytes: () => number;
  /** Called with each chunk of output. */
  readonly output: (bytes: number) => void;
  /** Called after the last event. */
  readonly closed: () => void;
}

/** Writes what a child does to its log, with what its sandbox has to say about it. */
export function logSink(options: LogSinkOptions): ChildSink {
  const { log, ending, confined, denials } = options;
  return {
    output: (stream, bytes) => {
      options.output(bytes.length);
      confined?.heard(stream, bytes);
      log.appendOutput(stream, bytes);
    },
    exited: (end) => {
      const cost = end.usage && { ...end.usage, outputBytes: options.outputBytes() };
      options.exited(cost);
      confined?.over();
      const networkDenied = denials?.list;
      const wasKept = networkDenied !== undefined && networkDenied.length > 0 && end.exitCode !== 0;
      const sandboxDenied = wasKept || (confined?.denied(end.exitCode) ?? false);
      const { timedOut } = ending;
      const usage = options.reportsUsage ? cost : undefined;
      log.appendExited(exitFacts({ ...end, timedOut, sandboxDenied, networkDenied, usage }));
    },
    closed: () => {
      ending.over();
      log.appendClosed();
      options.closed();
    },
  };
}
