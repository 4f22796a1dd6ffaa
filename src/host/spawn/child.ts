import type { OutputStream, SignalName, TerminalSize, TerminalState } from '../../contract/index.js';
import type { ChildEnd } from './exit-status.js';

/** A program to run on this machine, with everything decided. */
export interface ChildSpec {
  /** `argv[0]` is the program as the caller named it. */
  readonly argv: readonly string[];
  /** What the program sees as its own name; never changes which program runs. */
  readonly arg0?: string;
  /** Absolute. */
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Ignored with a terminal, which always accepts input. */
  readonly stdin: 'pipe' | 'null';
  /** Null: pipes. */
  readonly terminal: TerminalSize | null;
  /** False: the terminal does not become the controlling one of the child; something it starts takes it. Default true. */
  readonly controlsTerminal?: boolean;
  /** Further descriptors of ours the child gets under the number `childFd`, which is 3 or more. */
  readonly inheritFds?: readonly InheritedFd[];
}

export interface InheritedFd {
  readonly childFd: number;
  readonly fd: number;
}

/** Where a child's life is told. Called from the event loop, never from within `spawnChild`. */
export interface ChildSink {
  /** The bytes are the sink's to keep. */
  output(stream: OutputStream, bytes: Uint8Array): void;
  /** Once. What the direct child itself wrote came before, unless reading was paused. */
  exited(end: ChildEnd): void;
  /** Once and last: after `exited` and after the end of all output, that of background jobs included. */
  closed(): void;
}

/** A running child. Nothing here throws once it exists. */
export interface Child {
  readonly pid: number;
  /** Its number in this server: what its whole tree is recognised by. */
  readonly treeId: number;

  /** Queues bytes for stdin. Without an open stdin they are dropped. */
  write(bytes: Uint8Array): void;
  /** Bytes the kernel has not taken yet. */
  readonly queuedBytes: number;
  /** Resolves once at most `limit` bytes are queued, or stdin is gone. */
  onceWritable(limit: number): Promise<void>;
  /** False once closed, broken, or the child exited. */
  readonly stdinOpen: boolean;
  /** Behind what is queued. A terminal cannot be closed one way: there the end-of-file character is typed. */
  closeStdin(): void;
  /** No effect without a terminal. */
  resize(size: TerminalSize): void;
  /** What the program does with its terminal; null without one. Looks through all processes of the machine. */
  terminalState(): TerminalState | null;

  /** Stops reading output: it stays in the kernel and the program blocks when that is full. */
  pause(): void;
  resume(): void;

  /** To the process group, leader or not. False if nobody is left in it. */
  signalGroup(signal: SignalName): boolean;
  /** SIGKILLs all that descends from the child. True once none is left, false if some resisted for 5 s. */
  killTree(): Promise<boolean>;
  /** Pids of its tree that still run. Looks through all processes of the machine: not for hot paths. */
  survivors(): readonly number[];
  /**
   * Called once nothing of its tree is left, some time after that. Never while something may be. Much later than the child is
   * of use to anybody: what it refers to stays in memory until then.
   */
  set onTreeGone(listener: () => void);
  /**
   * Gives up on output still to come, for a tree that was killed while somebody else holds its pipe: reads what is
   * there now, then `closed` follows once the child has exited. A child that still writes gets SIGPIPE or SIGHUP.
   */
  abandonOutput(): void;
}

/** A child that runs while nobody listens: what it says waits in the kernel, and it keeps no event loop alive. */
export interface ParkedChild {
  /** False once it has ended, or is heard. */
  readonly waits: boolean;
  /** Called should it end unheard. */
  onEnded: (() => void) | undefined;
  /** From here on it is a child like any other. Only while it waits. */
  attach(sink: ChildSink): Child;
  /** Kills its tree. Resolves when nothing of it is left. */
  discard(): Promise<void>;
}
