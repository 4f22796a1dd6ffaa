import { z } from 'zod';
import { deniedHosts } from '../contract/index.js';
import { ExecError } from '../protocol/index.js';
import { CUT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS, Notes } from './arguments.js';
import { type InputState, inputState, NO_INPUT } from './input-state.js';
import { portsOfCommand } from './listening-ports.js';
import { reportText } from './report-text.js';
import type { ToolSession } from './session/tool-session.js';
import type { ToolContext, ToolResult } from './tool.js';

/** The structured result of every tool that runs or watches a command. */
export const CommandReport = z.object({
  session_id: z.number().int().meta({ description: 'Pass it to write_stdin, wait_for and read_output.' }),
  running: z.boolean(),
  exit_code: z.number().int().nullable().meta({ description: '128 + n after signal n; null while running.' }),
  signal: z.string().nullable().meta({ description: 'The signal that killed it.' }),
  wall_time_seconds: z.number().meta({ description: 'How long this call took.' }),
  output: z.string().meta({ description: 'What was printed since the last call.' }),
  truncated: z.boolean(),
  original_token_count: z.number().int().meta({ description: 'Tokens before anything was left out.' }),
  needs_input: z.boolean().meta({ description: 'The program is waiting for input from its terminal.' }),
  sandbox_denied: z.boolean().meta({ description: 'The sandbox policy is the likely cause of the failure.' }),
  password: z.boolean().meta({ description: 'Echo is off, as for a password.' }),
  listening: z.array(z.number().int()).meta({ description: 'TCP ports that the command listens on.' }),
  notes: Notes,
});

export interface ReportRequest {
  readonly startedAt: number;
  readonly raw: boolean;
  readonly max_output_tokens: number;
  readonly notes?: readonly string[];
  /** False if the input is still waiting for the program to read it. */
  readonly inputQueued?: boolean;
  /** What the call waited for has happened, where the state does not say so. */
  readonly event?: string | undefined;
}

/** Returns a session's new output and its state. The end of a command is reported exactly once. */
export async function reportCommand(
  session: ToolSession,
  context: ToolContext,
  request: ReportRequest,
): Promise<ToolResult> {
  const over = session.over;
  if (over) claimEnd(session);
  // Before the output is taken, so that it includes everything the program printed before it started to wait.
  const [input, listening] = await Promise.all([
    over ? NO_INPUT : inputState(session),
    portsOfCommand(context.environment, session),
  ]);
  const { maxLineChars, tokenizer } = context.settings;
  const maxTokens = Math.min(request.max_output_tokens, MAX_OUTPUT_TOKENS);
  // A call that asks for an amount gets that amount.
  const cutTokens = maxTokens === DEFAULT_OUTPUT_TOKENS ? CUT_OUTPUT_TOKENS : maxTokens;
  const output = await session.take({ raw: request.raw, maxLineChars, maxTokens, cutTokens, tokenizer });
  const notes = [...(request.notes ?? []), ...hints(session, { ...input, ...request })];
  const wallSeconds = (performance.now() - request.startedAt) / 1000;
  return {
    text: reportText({ session, over, event: request.event, input, listening, output }),
    notes,
    structured: {
      session_id: session.id,
      running: !over,
      exit_code: over ? (session.exit?.exitCode ?? null) : null,
      signal: over ? (session.exit?.signal ?? null) : null,
      wall_time_seconds: Number(wallSeconds.toFixed(3)),
      output: output.text,
      truncated: output.truncated,
      original_token_count: output.originalTokens,
      needs_input: input.needsInput,
      password: input.password,
      sandbox_denied: over && session.exit?.sandboxDenied === true,
      listening,
      notes,
    },
    isError: over && session.exit === null,
  };
}

const NOT_READ = 'The program is not reading its input; what was typed is still queued.';
const NO_ANSWER = 'The machine is not responding; the connection to it is being restored.';

const DENIED =
  'The sandbox policy probably denied what the command tried to do: write only inside the workspace, do without ' +
  'the network, or ask the user to allow more.';

const ASK_FOR_HOSTS = 'Do without these hosts, or ask the user to allow them.';

function claimEnd(session: ToolSession): void {
  if (session.reported) {
    throw new ExecError(
      'processNotFound',
      `Unknown session ID ${session.id}: its end was reported to another call.`,
    );
  }
  session.reported = true;
}

/** What the first line of the answer has no room for. */
function hints(session: ToolSession, input: InputState & Pick<ReportRequest, 'inputQueued'>): string[] {
  const found: string[] = [];
  if (!input.answered) found.push(NO_ANSWER);
  else if (input.inputQueued === false && !session.over) found.push(NOT_READ);
  const { changesFull, networkDenied, sandboxDenied } = (session.over && session.exit) || {};
  if (changesFull) found.push('The command was killed because its held changes reached their size limit.');
  else if (networkDenied)
    found.push(
      `The network policy denied the command access to ${deniedHosts(networkDenied)}. ${ASK_FOR_HOSTS}`,
    );
  else if (sandboxDenied) found.push(DENIED);
  if (session.lostBytes > 0) found.push(`${session.lostBytes} bytes of the output could not be kept.`);
  return found;
}
