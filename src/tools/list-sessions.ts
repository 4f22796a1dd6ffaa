import { z } from 'zod';
import type { ToolSession } from './session/tool-session.js';
import { answer, tool } from './tool.js';

const COMMAND_CHARS = 120;

const SessionRow = z.object({
  session_id: z.number().int(),
  command: z.string(),
  running: z.boolean(),
  exit_code: z.number().int().nullable(),
  tty: z.boolean(),
  age_seconds: z.number(),
  idle_seconds: z.number().meta({ description: 'Since the last output.' }),
  output_bytes: z.number().int(),
  lost_bytes: z.number().int().meta({ description: 'How many of these can no longer be read.' }),
  unread_bytes: z.number().int().meta({ description: 'Printed since the last call that returned output.' }),
});

export const listSessions = tool({
  name: 'list_sessions',
  title: 'List sessions',
  description: 'Lists running commands and finished ones with output.',
  input: z.object({}),
  output: z.object({ sessions: z.array(SessionRow) }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(_args, { sessions }) {
    const rows = sessions.all().map(rowOf);
    const text = rows.length === 0 ? 'No sessions.' : rows.map(lineOf).join('\n');
    return answer(text, { sessions: rows });
  },
});

function rowOf(session: ToolSession): z.output<typeof SessionRow> {
  const now = performance.now();
  return {
    session_id: session.id,
    command: session.command,
    running: !session.over,
    exit_code: session.exit?.exitCode ?? null,
    tty: session.process.tty,
    age_seconds: Math.round((now - session.startedAtMs) / 1000),
    idle_seconds: Math.round((now - session.lastOutputAtMs) / 1000),
    output_bytes: session.transcript.end,
    lost_bytes: session.lostBytes,
    unread_bytes: session.transcript.end - session.cursor,
  };
}

function lineOf(row: z.output<typeof SessionRow>): string {
  const state = row.running
    ? 'running'
    : row.exit_code === null
      ? 'contact lost'
      : `exited with code ${row.exit_code}`;
  const [firstLine = ''] = row.command.split('\n');
  const command =
    Array.from(firstLine).slice(0, COMMAND_CHARS).join('') + (firstLine === row.command ? '' : ' …');
  const lost = row.lost_bytes > 0 ? `, ${row.lost_bytes} bytes lost` : '';
  return `${row.session_id}: ${state}, ${row.age_seconds} s old, ${row.unread_bytes} bytes unread${lost}: ${command}`;
}
