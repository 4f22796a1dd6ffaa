import type { InputState } from './input-state.js';
import type { ToolSession } from './session/tool-session.js';
import type { Budgeted } from './text/budgeted-text.js';

/** A command that took less is not worth a word. */
const WORTH_MENTIONING_SECONDS = 1;

export interface ReportParts {
  readonly session: ToolSession;
  readonly over: boolean;
  readonly event: string | undefined;
  readonly input: InputState;
  readonly listening: readonly number[];
  readonly output: Budgeted;
}

/**
 * A report as a model reads it, which pays for every word: one line of ours, then the output and nothing but the output.
 */
export function reportText(parts: ReportParts): string {
  const { session, event, output } = parts;
  const state = `${event === undefined ? '' : `${event}. `}${describeState(parts)}`;
  const cut = output.truncated
    ? `. Truncated from ${output.originalTokens} tokens; read_output, session_id ${session.id}, has the rest`
    : '';
  return output.text === '' ? `${state}${cut}` : `${state}${cut}\n${output.text}`;
}

function describeState({ session, over, input, listening }: ReportParts): string {
  if (!over) {
    const ports = listening.length === 0 ? '' : `, listening on ${listening.join(', ')}`;
    return `Running with session ID ${session.id}${waiting(input)}${ports}`;
  }
  if (!session.exit) return 'Contact with the process was lost; how it ended is unknown';
  const seconds = session.runTimeMs / 1000;
  const after = seconds < WORTH_MENTIONING_SECONDS ? '' : ` after ${seconds.toFixed(1)} s`;
  return `Exit code ${session.exit.exitCode}${after}`;
}

function waiting({ needsInput, password }: InputState): string {
  if (password) return ', asking for a password (no echo)';
  return needsInput ? ', waiting for input' : '';
}
