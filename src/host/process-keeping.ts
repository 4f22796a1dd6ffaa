import type { ResumedLog } from '../contract/index.js';
import type { HeldUse } from './changes/index.js';
import type { KeptEgress } from './kept-egress.js';
import type { BridgeUse, NetworkUse } from './egress.js';
import type { ChildKeeping, KeptChild } from './spawn/index.js';

/** What lets a process outlive its server. */
export interface ProcessKeeping extends ChildKeeping {
  readonly startedAtMs: number;
  /** Its sandbox is ready: the first process inside. */
  confined(initPid: number): void;
  /** It is to be killed at this time, perhaps because it has timed out. */
  killAt(timeMs: number, why: { readonly timedOut: boolean }): void;
  /** It has been unused since this time; null while it is in use. */
  unused(sinceMs: number | null): void;
  /** This session has stopped using it. */
  leftBy(session: string): void;
  /** It will not be asked for again; what it left in the background keeps running. */
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
  /** Names of the files with its input. */
  readonly inputNames: readonly string[];
  /** Where it was started, if that is known. */
  readonly cwd: string | undefined;
  /** Its time was up. */
  readonly timedOut: boolean;
  /** When it exited, unless it still runs. */
  readonly endedAtMs: number | undefined;
  /** Set if it has a network of its own. */
  readonly egress?: { readonly use: NetworkUse | BridgeUse; readonly kept: KeptEgress } | undefined;
  /** Its files, if its changes are held. */
  readonly held?: HeldUse | undefined;
}
