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
  /** Another client asks for it; pass `by` to `give`. */
  | { readonly type: 'asked'; readonly by: number }
  /** We got it, or another client has it now. */
  | { readonly type: 'changed'; readonly holds: boolean };

/** Who types to a process that several clients are attached to: one at a time. */
export interface ProcessKeyboard {
  /** Whether we type, as far as we have heard. */
  readonly holds: boolean;
  /** Takes it, whoever had it before. */
  take(): Promise<void>;
  /** Takes it if it is free, and returns whether we have it now. If not, the client that has it is notified. */
  ask(): Promise<boolean>;
  /** Gives it up, to the given client if there is one. */
  give(to?: number): Promise<void>;
  /** Calls `listener` with everything that happens to it. Returns an unsubscribe function. */
  watch(listener: (news: KeyboardNews) => void): () => void;
}
