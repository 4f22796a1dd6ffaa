/** A TCP port that a program listens on. */
export interface ListeningPort {
  readonly port: number;
  /** `0.0.0.0` and `::` stand for every address. */
  readonly address: string;
  /** The pid of the program on its machine; null if it is not one of ours. */
  readonly pid: number | null;
  /** The process it belongs to, even if it was left in the background; null if it is not one of ours. */
  readonly processId: string | null;
  /** The session of that process, if it is not our own. */
  readonly sessionId?: string | undefined;
  /** It listens in the network of a sandbox, where only that sandbox, `connect` and `forward` reach it. */
  readonly sandboxed: boolean;
}

export interface PortsOptions {
  /**
   * `own`: the ports of processes that this environment started, and of our kept ones. `machine`: also those of other sessions,
   * and everything else that listens on the machine. Default `own`.
   */
  readonly scope?: 'own' | 'machine' | undefined;
}

export interface PortEvent extends ListeningPort {
  readonly type: 'opened' | 'closed';
}

/**
 * Tells which ports open and close. Begins with those that are open. A port that opens and closes while nobody takes events is
 * left out.
 */
export interface PortWatch extends AsyncIterable<PortEvent>, AsyncDisposable {
  /** Idempotent. Iteration ends. */
  close(): Promise<void>;
}
