import type { TerminalSize } from '../contract/index.js';

/** A terminal at some point: text that a fresh one of this size is given, then bytes that are not complete yet. */
export interface ScreenState {
  readonly size: TerminalSize;
  readonly text: string;
  readonly unfinished: Uint8Array;
}

/** What happened to a terminal since then. */
export type ScreenInput = { readonly bytes: Uint8Array } | { readonly size: TerminalSize };

export interface RenderJob {
  readonly from: ScreenState;
  readonly inputs: readonly ScreenInput[];
  /** Whether somebody wants to see the screen; otherwise only the state to go on from is made. */
  readonly shown: boolean;
}

export interface RenderedScreen {
  /** To go on from; with some lines above the screen. */
  readonly state: ScreenState;
  /** The screen alone; null if nobody wants to see it. */
  readonly shown: string | null;
  readonly isAlternate: boolean;
}

/** A terminal that was just switched on. */
export function blank(size: TerminalSize): ScreenState {
  return { size, text: '', unfinished: new Uint8Array(0) };
}
