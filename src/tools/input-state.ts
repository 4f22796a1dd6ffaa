import type { ToolSession } from './session/tool-session.js';

/** Requests wait while a connection is being restored. A tool call gives up on this one after a moment. */
const ANSWER_TIMEOUT_MS = 2_000;

/** Whether a program is waiting for its terminal. */
export interface InputState {
  readonly needsInput: boolean;
  /** It is waiting with echo off. */
  readonly password: boolean;
  /** False if the machine did not respond in time. */
  readonly answered: boolean;
}

export const NO_INPUT: InputState = { needsInput: false, password: false, answered: true };

/** Asks the machine whether the program is waiting for its terminal. If the machine cannot tell, the answer is no. */
export async function inputState({ process }: ToolSession): Promise<InputState> {
  if (!process.inspect) return NO_INPUT;
  const asking = process.inspect().catch(() => null);
  const state = await Promise.race([asking, answerTimeout()]);
  if (state === 'no answer') return { ...NO_INPUT, answered: false };
  const needsInput = state?.waitsForInput ?? false;
  return { needsInput, password: needsInput && state?.echo === false, answered: true };
}

/** Resolves when a machine has had enough time to answer. */
export function answerTimeout(): Promise<'no answer'> {
  return new Promise((resolve) => {
    // Timers run before I/O. After a stall the answer may already have arrived: let the event loop read it first.
    setTimeout(() => setImmediate(resolve, 'no answer'), ANSWER_TIMEOUT_MS).unref();
  });
}
