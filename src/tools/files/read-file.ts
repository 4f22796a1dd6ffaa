import { z } from 'zod';
import { hidden, MAX_OUTPUT_TOKENS, MaxOutputTokens } from '../arguments.js';
import { absolutePath, Path } from '../paths.js';
import { selectLines } from '../session/line-selection.js';
import { BudgetedText } from '../text/budgeted-text.js';
import { answer, tool, type ToolContext, type ToolResult } from '../tool.js';
import { FileLines, MAX_READ_BYTES } from './file-lines.js';
import { ConcurrencyLimit } from '../../protocol/concurrency-limit.js';

/** For all models of this program: each takes several times as much memory as its answer. */
const FILES_AT_A_TIME = 8;
const reads = new ConcurrencyLimit(FILES_AT_A_TIME);

const UNREAD = `Warning: only the first ${MAX_READ_BYTES / 1024 / 1024} MiB were read; inspect the rest with a command\n`;

const Arguments = z.object({
  path: Path,
  from: z.number().int().min(1).default(1).meta({ description: 'First line.' }),
  to: z.number().int().min(1).optional(),
  max_output_tokens: hidden(MaxOutputTokens),
});

export const readFile = tool({
  name: 'read_file',
  title: 'Read a file',
  description: 'Reads a text file or some of its lines.',
  input: Arguments,
  output: z.object({
    path: z.string(),
    first_line: z.number().int().nullable(),
    last_line: z.number().int().nullable(),
    total_lines: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Null if the file was not read to its end.' }),
    content: z.string(),
    truncated: z.boolean(),
    original_token_count: z.number().int(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: (args, context) => reads.run(() => readLines(args, context)),
});

async function readLines(
  { path, from, to = Number.POSITIVE_INFINITY, max_output_tokens }: z.output<typeof Arguments>,
  context: ToolContext,
): Promise<ToolResult> {
  const { environment, settings } = context;
  const absolute = await absolutePath(path, context);
  await using handle = await environment.files.open(absolute);
  const file = new FileLines(handle, to);
  const { batches, totals } = selectLines(file.batches(), { from, to, matches: null, context: 0 });
  const maxTokens = Math.min(max_output_tokens, MAX_OUTPUT_TOKENS);
  const content = new BudgetedText({ maxTokens, tokenizer: settings.tokenizer });
  let first: number | null = null;
  let last: number | null = null;
  for await (const lines of batches) {
    content.append(lines.map(({ text }) => `${text}\n`).join(''));
    first ??= lines[0]?.number ?? null;
    last = lines.at(-1)?.number ?? last;
  }
  const { text, truncated, originalTokens } = content.finish();
  const warnings = [
    ...(truncated ? [`Warning: truncated content (original token count: ${originalTokens})\n`] : []),
    ...(file.complete || totals.lines >= to ? [] : [UNREAD]),
  ];
  const found = first === null && file.complete ? noLines(totals.lines, from) : text;
  return answer([...warnings, found].join(''), {
    path: absolute,
    first_line: first,
    last_line: last,
    total_lines: file.complete ? totals.lines : null,
    content: text,
    truncated,
    original_token_count: originalTokens,
  });
}

/** An empty answer could mean anything. */
function noLines(total: number, from: number): string {
  if (total === 0) return 'The file is empty.';
  return from > total
    ? `There is no line ${from}: the file has ${total}.`
    : 'There are no lines in this range.';
}
