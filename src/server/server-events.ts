import type { ProcessUsage } from '../contract/index.js';
import type { LocalProcess, ProcessTableOptions } from '../host/index.js';
import type { NetworkDenial } from '../protocol/index.js';

/** Who does something: the client's address, and who it is to the server. */
export interface ClientFacts {
  /** An address such as `10.0.0.7:51234`, or the kind of channel. */
  readonly peer: string;
  /** `token:…` with the first digits of its hash, `subject:…`, `user:…`, or `anyone`. */
  readonly who: string;
}

/** Something an operator wants to know. Contains no environment and no token. */
export type ServerEvent =
  /** A connection was turned away before it had a session. */
  | {
      readonly event: 'loginRefused';
      readonly peer: string;
      readonly status: number;
      readonly reason: string;
    }
  | ({
      readonly event: 'sessionOpened' | 'sessionResumed';
      readonly session: string;
      readonly client: string;
    } & ClientFacts)
  | {
      readonly event: 'sessionEnded';
      readonly session: string;
      readonly reason: string;
      readonly durationMs: number;
    }
  /** Comes before `processStarted` or `startRefused`. */
  | ({
      readonly event: 'startRequested';
      readonly session: string;
      readonly processId: string;
      readonly program: string;
      readonly argv: readonly string[];
      /** A `file:` URI; absent if the client leaves it to the server. */
      readonly cwd?: string | undefined;
      readonly lease: string;
    } & ClientFacts)
  | ({ readonly event: 'processStarted' } & ProcessFacts)
  /** It could not be started, or was not allowed to. */
  | {
      readonly event: 'startRefused';
      readonly session: string;
      readonly processId: string;
      readonly program: string;
      readonly reason: string;
    }
  /** The rules of its sandbox denied a process a host. Each host is reported once, and at most 16 of them. */
  | ({
      readonly event: 'networkDenied';
      readonly session: string;
      readonly processId: string;
    } & NetworkDenial)
  | ({
      readonly event: 'processEnded';
      readonly exitCode: number;
      readonly signal: string | null;
      readonly timedOut: boolean;
      readonly durationMs: number;
      readonly outputBytes: number;
      readonly usage?: ProcessUsage | undefined;
    } & ProcessFacts);

/** What is reported about a process. `argv` is only for clients that asked for it: arguments may be secret. */
export interface ProcessFacts {
  /** The session that owns it, or `kept`. */
  readonly session: string;
  readonly processId: string;
  readonly pid: number;
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd?: string | undefined;
  readonly sandbox: string;
}

/** Receives everything that happens. Must not throw and must not take long. */
export type ServerObserver = (event: ServerEvent) => void;

/** When processes were started here, on the clock of this process, which nobody sets. */
const startedAt = new WeakMap<LocalProcess, number>();

function ageMs(process: LocalProcess): number {
  const at = startedAt.get(process);
  // Only the wall clock tells when an earlier server started it.
  return at === undefined ? Math.max(0, Date.now() - process.startedAtMs) : performance.now() - at;
}

/** The hooks of a table of processes. `session` names their owner. */
export function observeProcesses(
  observe: ServerObserver,
  session: string,
): Required<Pick<ProcessTableOptions, 'onStarted' | 'onEnded' | 'onNetworkDenied'>> {
  return {
    onNetworkDenied: (processId, denial) =>
      observe({ event: 'networkDenied', session, processId, ...denial }),
    onStarted: (process) => {
      startedAt.set(process, performance.now());
      observe({ event: 'processStarted', ...factsOf(process, session) });
    },
    onEnded: (process) => {
      const { exitCode = 0, signal = null, timedOut = false } = process.log.exit ?? {};
      observe({
        event: 'processEnded',
        ...factsOf(process, session),
        exitCode,
        signal,
        timedOut,
        durationMs: Math.round(ageMs(process)),
        outputBytes: process.log.totalBytes,
        usage: process.run.usage,
      });
    },
  };
}

function factsOf({ processId, pid, argv, cwd, sandboxType }: LocalProcess, session: string): ProcessFacts {
  return { session, processId, pid, program: argv[0] ?? '', argv, cwd, sandbox: sandboxType };
}

/** Who a client is, for people. The hash of a token is cut: enough to tell tokens apart. */
export function whoIs(principal = 'anyone'): string {
  return principal.replace(/^(token:[0-9a-f]{8})[0-9a-f]+$/, '$1');
}
