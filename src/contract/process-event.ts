import type { NetworkDenial } from '../protocol/index.js';

export type OutputStream = 'stdout' | 'stderr' | 'pty';

/** `SIGINT`, `SIGTERM`, … by POSIX name. */
export type SignalName = `SIG${string}`;

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** An entry of the process log. Numbers start at 1 and are contiguous except where a gap is reported. */
export type ProcessEvent =
  | {
      readonly type: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  /** Output between `afterSeq` and `beforeSeq` is gone because the reader was away too long. */
  | {
      readonly type: 'gap';
      readonly afterSeq: number;
      readonly beforeSeq: number;
      readonly lostBytes: number;
    }
  | ExitedEvent
  | { readonly type: 'closed'; readonly seq: number };

/** The direct child exited. Output from processes it left behind may still follow. */
export interface ExitedEvent {
  readonly type: 'exited';
  readonly seq: number;
  /** 0-255 as the program returned it; 128 + n if signal n killed it. */
  readonly exitCode: number;
  /** The signal that killed it, if the machine reports it; null for a normal exit. */
  readonly signal: SignalName | null;
  readonly timedOut: boolean;
  readonly sandboxDenied: boolean;
  /** Present if it was killed because its held changes reached their size limit. */
  readonly changesFull?: true;
  /** The hosts that the rules of its network kept it from; absent if there were none. */
  readonly networkDenied?: readonly NetworkDenial[];
  /** With `reportUsage`, if the machine reports it. */
  readonly usage?: ProcessUsage;
}

/** What a process has used, with all descendants it has waited for. */
export interface ResourceUsage {
  /** CPU time in its own code. */
  readonly userMs: number;
  /** CPU time in the kernel. */
  readonly systemMs: number;
  /** The peak memory of any one of its processes. */
  readonly peakMemoryBytes: number;
  /** True if the peak is only known not to exceed that of the server: the kernel does not tell more. */
  readonly peakMemoryIsUpperBound?: boolean | undefined;
}

/** What a process cost. */
export interface ProcessUsage extends ResourceUsage {
  /** Output up to its exit. */
  readonly outputBytes: number;
}

/** How a process ended: exactly one of these. Lost contact is never presented as an exit. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly exitCode: number; readonly signal: SignalName }
  | { readonly kind: 'timedOut'; readonly exitCode: number }
  | { readonly kind: 'contactLost'; readonly error: Error };
