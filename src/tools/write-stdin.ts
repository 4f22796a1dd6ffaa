import { z } from 'zod';
import { ExecError, isExecError } from '../protocol/index.js';
import { MAX_INPUT_CHARS, MAX_YIELD_MS, MaxOutputTokens, milliseconds, Raw, SessionId } from './arguments.js';
import { CommandReport, reportCommand } from './command-report.js';
import { reportProgress } from './progress.js';
import { interrupt, typeKeys } from './session/keystrokes.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil } from './session/wait-until.js';
import { tool } from './tool.js';
import { yieldWindow } from './yield-window.js';

export const writeStdin = tool({
  name: 'write_stdin',
  title: 'Type into a running command',
  description:
    'Writes to a running session and returns what it printed since the last call. Empty chars only look. ' +
    'Control characters work: \\u0003 is Ctrl-C, \\u0004 Ctrl-D. End a line with \\n.',
  input: z.object({
    session_id: SessionId,
    chars: z.string().max(MAX_INPUT_CHARS).default('').meta({ description: 'What to type. Empty: nothing.' }),
    yield_time_ms: milliseconds({
      default: 250,
      max: MAX_YIELD_MS,
      about: 'How long to collect output; less if the command ends or waits for input.',
    }),
    max_output_tokens: MaxOutputTokens,
    raw: Raw,
  }),
  output: CommandReport,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run(args, context) {
    const startedAt = performance.now();
    const session = context.sessions.getUnreported(args.session_id);
    using _progress = reportProgress(session, context);
    const { signal } = context;
    const timeoutMs = Math.min(args.yield_time_ms, MAX_YIELD_MS);
    try {
      const taken = args.chars === '' || (await write(session, args.chars, signal));
      await yieldWindow(session, { timeoutMs, signal });
      return await reportCommand(session, context, { ...args, startedAt, taken });
    } catch (error) {
      // A cancelled look leaves the command alone; what was typed is taken back as far as possible.
      if (isExecError(error, 'aborted') && args.chars !== '') interrupt(session.process);
      throw error;
    }
  },
});

/** A full queue takes input only as the program reads; the call does not wait for that longer than this. */
const WRITE_PATIENCE_MS = 1000;

/** True once the input is in line; false if the line is so long that it has to wait. */
async function write(session: ToolSession, chars: string, signal: AbortSignal | undefined): Promise<boolean> {
  if (session.over) return true;
  const writing = typeKeys(session.process, chars);
  writing.catch(() => undefined);
  const stop = new AbortController();
  const patience = waitUntil(session, () => session.over, {
    timeoutMs: WRITE_PATIENCE_MS,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  });
  patience.catch(() => undefined);
  const status = await Promise.race([writing, patience]).finally(() => stop.abort());
  // A command that ended meanwhile is reported as ended; that says it all.
  if (status === 'accepted' || session.over) return true;
  if (status === false) return false;
  throw new ExecError('processExited', `The input of session ${session.id} is closed; nothing was written.`);
}
