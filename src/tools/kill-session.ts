import { z } from 'zod';
import { hidden, MaxOutputTokens, Raw, SessionId } from './arguments.js';
import { CommandReport, reportCommand } from './command-report.js';
import { tool } from './tool.js';

export const killSession = tool({
  name: 'kill_session',
  title: 'Kill a session',
  description: 'Kills a command and everything it started.',
  input: z.object({ session_id: SessionId, max_output_tokens: hidden(MaxOutputTokens), raw: hidden(Raw) }),
  output: CommandReport,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run(args, context) {
    const startedAt = performance.now();
    const session = context.sessions.get(args.session_id);
    // A command that has ended may have left background jobs that still hold its output open: kill those too.
    await session.kill();
    session.reported = false;
    return await reportCommand(session, context, { ...args, startedAt });
  },
});
