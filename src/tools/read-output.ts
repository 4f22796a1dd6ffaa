import { z } from 'zod';
import { matchingLines } from '../lines/index.js';
import { hidden, MAX_OUTPUT_TOKENS, MaxOutputTokens, PATTERN, Raw, SessionId } from './arguments.js';
import { type NumberedLine, type Selection, selectLines } from './session/line-selection.js';
import { sessionLines } from './session/session-lines.js';
import type { ToolSession } from './session/tool-session.js';
import { BudgetedText } from './text/budgeted-text.js';
import { textPattern } from './text/text-pattern.js';
import { answer, tool, type ToolContext, type ToolResult } from './tool.js';

const MAX_CONTEXT_LINES = 100;

const Arguments = z.object({
  session_id: SessionId,
  from: z.number().int().min(1).optional().meta({ description: 'First line.' }),
  to: z.number().int().min(1).optional(),
  tail: z.number().int().min(1).optional().meta({ description: 'Last lines.' }),
  grep: z
    .string()
    .optional()
    .meta({ description: `Only lines matching ${PATTERN}.` }),
  context: z.number().int().min(0).max(MAX_CONTEXT_LINES).default(0).meta({
    description: 'Lines around each match.',
  }),
  max_output_tokens: hidden(MaxOutputTokens),
  raw: hidden(Raw),
});
type Arguments = z.output<typeof Arguments>;

export const readOutput = tool({
  name: 'read_output',
  title: 'Read output again',
  description: 'Reads output of a running or finished session again, by line.',
  input: Arguments,
  output: z.object({
    session_id: z.number().int(),
    first_line: z.number().int().nullable(),
    last_line: z.number().int().nullable(),
    total_lines: z.number().int(),
    matches: z.number().int().nullable().meta({ description: 'Number of matching lines, with `grep`.' }),
    output: z.string(),
    truncated: z.boolean(),
    original_token_count: z.number().int(),
    lost_bytes: z.number().int().meta({ description: 'Bytes of this session that could not be kept.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(args, context) {
    const session = context.sessions.get(args.session_id);
    const pattern = args.grep === undefined ? null : textPattern(args.grep);
    const { maxLineChars } = context.settings;
    const { raw, from = 1, tail } = args;
    const { batches, ...place } = await sessionLines(session, { raw, maxLineChars, from, tail });
    const selection = selectLines(batches, {
      ...place,
      to: args.to ?? Number.POSITIVE_INFINITY,
      matches: pattern && ((lines) => matchingLines(pattern, lines, context.signal)),
      context: args.context,
    });
    return await collect(selection, session, { args, context });
  },
});

async function collect(
  selection: Selection,
  session: ToolSession,
  { args, context }: { args: Arguments; context: ToolContext },
): Promise<ToolResult> {
  const maxTokens = Math.min(args.max_output_tokens, MAX_OUTPUT_TOKENS);
  const budgeted = new BudgetedText({ maxTokens, tokenizer: context.settings.tokenizer });
  const searching = args.grep !== undefined;
  let first: NumberedLine | null = null;
  let last: NumberedLine | null = null;
  for await (const batch of selection.batches) {
    budgeted.append(
      searching ? matchText(batch, { before: last, groups: args.context > 0 }) : rangeText(batch),
    );
    first ??= batch[0] ?? null;
    last = batch.at(-1) ?? last;
  }
  const { text, truncated, originalTokens } = budgeted.finish();
  const { totals } = selection;
  const found = searching
    ? `${totals.hits} of ${totals.lines} lines match`
    : rangeOf(first, last, totals.lines);
  const warning = truncated ? [`Warning: truncated output (original token count: ${originalTokens})`] : [];
  // Read last, to include what was lost while reading.
  const { lostBytes } = session;
  return answer([found, ...lossWarning(lostBytes), ...warning, text].join('\n'), {
    session_id: session.id,
    first_line: first?.number ?? null,
    last_line: last?.number ?? null,
    total_lines: totals.lines,
    matches: searching ? totals.hits : null,
    output: text,
    truncated,
    original_token_count: originalTokens,
    lost_bytes: lostBytes,
  });
}

/** A search that finds nothing may have missed what was lost, and line numbers after a gap are too low. */
function lossWarning(lostBytes: number): string[] {
  if (lostBytes === 0) return [];
  return [
    `Warning: ${lostBytes} bytes of this output could not be kept; only the rest is searched and numbered`,
  ];
}

function rangeText(lines: readonly NumberedLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

/** In grep's format: numbered, `:` for matches, `-` for context lines, `--` between groups. */
function matchText(
  lines: readonly NumberedLine[],
  { before, groups }: { before: NumberedLine | null; groups: boolean },
): string {
  let previous = before;
  let text = '';
  for (const line of lines) {
    if (groups && previous && line.number > previous.number + 1) text += '--\n';
    text += `${line.number}${line.hit ? ':' : '-'}${line.text}\n`;
    previous = line;
  }
  return text;
}

function rangeOf(first: NumberedLine | null, last: NumberedLine | null, total: number): string {
  return first && last
    ? `Lines ${first.number}-${last.number} of ${total}`
    : `No such lines; there are ${total}`;
}
