import { z } from 'zod';
import { ExecError, isExecError } from '../protocol/index.js';
import {
  hidden,
  MAX_INPUT_CHARS,
  MAX_YIELD_MS,
  MaxOutputTokens,
  milliseconds,
  Raw,
  SessionId,
} from './arguments.js';
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
    'Types chars into a session and returns its new output. Empty chars only read. ' +
    '\\u0003 is Ctrl-C, \\u0004 Ctrl-D. End a line with \\n.',
  input: z.object({
    session_id: SessionId,
    chars: z.string().max(MAX_INPUT_CHARS).default(''),
    yield_time_ms: milliseconds({ default: 250 }),
    max_output_tokens: MaxOutputTokens,
    raw: hidden(Raw),
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
      const inputQueued = args.chars === '' || (await write(session, args.chars, signal));
      await yieldWindow(session, { timeoutMs, signal });
      return await reportCommand(session, context, { ...args, startedAt, inputQueued });
    } catch (error) {
      // Cancelling a read leaves the command alone. Cancelling a write interrupts it: typed input cannot be unsent.
      if (isExecError(error, 'aborted') && args.chars !== '') interrupt(session.process);
      throw error;
    }
  },
});

/** A full input queue drains only as the program reads. The call waits no longer than this. */
const WRITE_TIMEOUT_MS = 1000;

/** True once the input is queued; false if the queue is full. */
async function write(session: ToolSession, chars: string, signal: AbortSignal | undefined): Promise<boolean> {
  if (session.over) return true;
  const writing = typeKeys(session.process, chars);
  writing.catch(() => undefined);
  const stop = new AbortController();
  const timeout = waitUntil(session, () => session.over, {
    timeoutMs: WRITE_TIMEOUT_MS,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  });
  timeout.catch(() => undefined);
  const status = await Promise.race([writing, timeout]).finally(() => stop.abort());
  // If the command ended meanwhile, the report says so.
  if (status === 'accepted' || session.over) return true;
  if (status === false) return false;
  throw new ExecError('processExited', `The input of session ${session.id} is closed; nothing was written.`);
}
