import type { TerminalSize } from './process-event.js';

/** What a terminal shows. */
export interface TerminalScreen {
  readonly size: TerminalSize;
  /** Written to a fresh terminal of this size, it shows the same, and the output that follows goes on from there. */
  readonly bytes: Uint8Array;
  /** A full-screen program has the screen. */
  readonly alternate: boolean;
  /** It shows all output up to this number. */
  readonly afterSeq: number;
}

/** What happened to the keyboard of a process. */
export type KeyboardNews =
  /** Somebody would like to have it; pass `by` to `give`. */
  | { readonly type: 'asked'; readonly by: number }
  /** It came to us, or somebody else has it now. */
  | { readonly type: 'changed'; readonly holds: boolean };

/** Who types to a process that several clients are attached to: one at a time. */
export interface ProcessKeyboard {
  /** Whether we type, as far as we have heard. */
  readonly holds: boolean;
  /** Types from now on, whoever did before. */
  take(): Promise<void>;
  /** Takes it if nobody has it, and returns whether we have it now. If not, whoever has it is told. */
  ask(): Promise<boolean>;
  /** Lets go of it, in favour of somebody who asked if given. */
  give(to?: number): Promise<void>;
  /** Calls `listener` with everything that happens to it. Returns an unsubscribe function. */
  watch(listener: (news: KeyboardNews) => void): () => void;
}
