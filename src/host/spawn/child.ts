import type { OutputStream, SignalName, TerminalSize, TerminalState } from '../../contract/index.js';
import type { ProcessLimits } from '../../protocol/index.js';
import type { ChildKeeping } from './child-keeping.js';
import type { ChildEnd } from './exit-status.js';

/** A fully specified program to run on this machine. */
export interface ChildSpec {
  /** `argv[0]` is the program as the caller named it. */
  readonly argv: readonly string[];
  /** The name the program sees as its own; does not affect which program runs. */
  readonly arg0?: string;
  /** Absolute. */
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Ignored on a terminal, which always accepts input. */
  readonly stdin: 'pipe' | 'null';
  /** Null for pipes. */
  readonly terminal: TerminalSize | null;
  /**
   * False: the terminal does not become the child's controlling terminal; one of its descendants will claim it. Default
   * true.
   */
  readonly controlsTerminal?: boolean;
  /** More of our descriptors for the child, each under the number `childFd`, which is 3 or more. */
  readonly inheritFds?: readonly InheritedFd[];
  /** It may outlive us. */
  readonly keeping?: ChildKeeping | undefined;
  /** For each process of its tree. */
  readonly limits?: ProcessLimits | undefined;
}

export interface InheritedFd {
  readonly childFd: number;
  readonly fd: number;
}

/** Receives a child's events. Called from the event loop, never from within `spawnChild`. */
export interface ChildSink {
  /** The sink may keep the bytes. */
  output(stream: OutputStream, bytes: Uint8Array): void;
  /** Once. All output of the direct child itself came before, unless reading was paused. */
  exited(end: ChildEnd): void;
  /** Once and last: after `exited` and after all output has ended, including that of background jobs. */
  closed(): void;
}

/** A running child. None of these methods throws, except `write`. */
export interface Child {
  readonly pid: number;
  /** Identifies its whole process tree within this server. */
  readonly treeId: number;

  /**
   * Queues bytes for stdin; dropped if stdin is not open. For a child with `keeping`, the id names the write to a server
   * that comes after us, and `stdinFull` is thrown if the disk has no room.
   */
  write(bytes: Uint8Array, id?: string): void;
  /** Bytes the kernel has not accepted yet. */
  readonly queuedBytes: number;
  /** Resolves once at most `limit` bytes are queued or stdin is gone. */
  onceWritable(limit: number): Promise<void>;
  /** False once closed or broken, or after the child exited. */
  readonly stdinOpen: boolean;
  /**
   * Takes effect after what is queued. A terminal cannot be half-closed, so there the end-of-file character is typed.
   */
  closeStdin(): void;
  /** No effect without a terminal. */
  resize(size: TerminalSize): void;
  /** What the program is doing with its terminal; null without one. Scans every process on the machine. */
  terminalState(): TerminalState | null;

  /** Stops reading output: it stays in the kernel, and the program blocks once those buffers are full. */
  pause(): void;
  resume(): void;

  /** Signals the process group, whether or not its leader is alive. False if the group is empty. */
  signalGroup(signal: SignalName): boolean;
  /** Sends SIGKILL to every descendant. Resolves to true once none is left, false if any survived for 5 s. */
  killTree(): Promise<boolean>;
  /** Pids of the tree that are still running. Scans every process on the machine: not for hot paths. */
  survivors(): readonly number[];
  /**
   * Called some time after the last process of the tree is gone, never before. That may be long after the child itself
   * is of interest: whatever the listener refers to stays in memory until then.
   */
  set onTreeGone(listener: () => void);
  /**
   * Gives up on further output, for a tree that was killed while some other process holds its pipe. Reads what is there
   * now; `closed` follows once the child has exited. A child still writing gets SIGPIPE or SIGHUP.
   */
  abandonOutput(): void;
}

/** A child nobody listens to yet: its output stays in the kernel, and it does not keep the event loop alive. */
export interface ParkedChild {
  /** False once it has ended or is attached. */
  readonly isWaiting: boolean;
  /** Called if it ends before it is attached. */
  onEnded: (() => void) | undefined;
  /** From here on it is an ordinary child. Only while it is waiting. */
  attach(sink: ChildSink): Child;
  /** Kills its tree. Resolves when nothing is left of it. */
  discard(): Promise<void>;
}
