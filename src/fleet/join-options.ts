import type { Channel } from '../rpc/index.js';
import type { MachineUsage } from './machine.js';

/** Serves the clients that reach this machine. `ExecServer` is one. */
export interface MachineServer {
  accept(channel: Channel, options: { principal: string; probe: () => void }): Promise<void>;
  usage(): MachineUsage;
  isDraining: boolean;
}

export interface MemberLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface JoinOptions {
  /** The name clients use. Unique in the fleet. */
  readonly name: string;
  /** For selectors. `os` and `arch` are added. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly server: MachineServer;
  readonly version?: string;
  /** How well programs can be confined here. */
  readonly sandbox?: string;
  /** Jobs to run at a time. Default 0: this machine takes none. Needs JetStream. */
  readonly jobSlots?: number;
  /**
   * After this long without a sign of this machine, its jobs may run elsewhere; halfway, it ends them itself. Default 60 s.
   */
  readonly jobLeaseMs?: number;
  /**
   * Join although the NATS servers require no credentials: anyone who reaches them, a confined program included, can then run
   * anything here.
   */
  readonly insecure?: boolean;
  readonly log?: MemberLog;
  /** Called if the machine is no longer in the fleet, and why. */
  readonly onLost?: (reason: string) => void;
}
