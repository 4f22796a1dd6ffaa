import type { ResumedLog } from '../contract/index.js';
import type { ChildKeeping, KeptChild } from './spawn/index.js';

/** What lets a process outlive its server. */
export interface ProcessKeeping extends ChildKeeping {
  readonly startedAtMs: number;
  /** Its sandbox is ready: the first process inside. */
  confined(initPid: number): void;
  /** It is to be killed at this time. */
  killAt(timeMs: number): void;
  /** Nobody has used it since this time; null: somebody does. */
  unused(sinceMs: number | null): void;
  /** Nobody will ask for it again; what it left in the background goes on. */
  forgotten(): void;
  /** Nothing is left of its tree. */
  treeGone(): void;
}

/** A process that an earlier server started. */
export interface TakenProcess {
  readonly log: ResumedLog;
  /** Output that has no number yet. */
  readonly unentered: { readonly stream: 'stdout' | 'stderr' | 'pty'; readonly bytes: Uint8Array } | null;
  readonly kept: KeptChild;
}
