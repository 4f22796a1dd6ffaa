import type { ToolSession } from './session/tool-session.js';

/** While a connection is being restored questions wait for it; a call does not wait for this one longer. */
const ANSWER_PATIENCE_MS = 2_000;

/** What a program does with its terminal. */
export interface InputState {
  readonly needsInput: boolean;
  /** It waits with echo off. */
  readonly password: boolean;
  /** The machine was heard of. */
  readonly answered: boolean;
}

export const NO_INPUT: InputState = { needsInput: false, password: false, answered: true };

/** Asks the machine whether the program waits for the terminal. Where it cannot tell, the answer is no. */
export async function inputState({ process }: ToolSession): Promise<InputState> {
  if (!process.inspect) return NO_INPUT;
  const asking = process.inspect().catch(() => null);
  const state = await Promise.race([asking, patience()]);
  if (state === 'no answer') return { ...NO_INPUT, answered: false };
  const needsInput = state?.waitsForInput ?? false;
  return { needsInput, password: needsInput && state?.echo === false, answered: true };
}

function patience(): Promise<'no answer'> {
  return new Promise((resolve) => {
    // Timers come before what has arrived: after a standstill the answer may be there, and only be read a turn later.
    setTimeout(() => setImmediate(resolve, 'no answer'), ANSWER_PATIENCE_MS).unref();
  });
}
