import type { TerminalSize } from '../contract/index.js';

/** The state of a terminal: text that reproduces it on a fresh one of this size, and the incomplete bytes that followed. */
export interface ScreenState {
  readonly size: TerminalSize;
  readonly text: string;
  readonly unfinished: Uint8Array;
}

/** Something that happened to a terminal since then. */
export type ScreenInput = { readonly bytes: Uint8Array } | { readonly size: TerminalSize };

export interface RenderJob {
  readonly from: ScreenState;
  readonly inputs: readonly ScreenInput[];
  /** Whether somebody wants to see the screen. If not, only the state is updated. */
  readonly shown: boolean;
}

export interface RenderedScreen {
  /** The state to continue from, with some scrollback. */
  readonly state: ScreenState;
  /** The screen without scrollback; null if nobody wants to see it. */
  readonly shown: string | null;
  readonly isAlternate: boolean;
}

/** A fresh terminal. */
export function blank(size: TerminalSize): ScreenState {
  return { size, text: '', unfinished: new Uint8Array(0) };
}
