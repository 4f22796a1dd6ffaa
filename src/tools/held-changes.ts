import { z } from 'zod';
import { CHANGE_LETTERS, type ChangeSet, type HeldChange } from '../contract/index.js';
import { isExecError } from '../protocol/index.js';
import { hidden, MAX_OUTPUT_TOKENS, MaxOutputTokens } from './arguments.js';
import { absolutePath, Path } from './paths.js';
import { BudgetedText } from './text/budgeted-text.js';
import { answer, tool, type ToolContext, type ToolResult } from './tool.js';

const Arguments = z.object({
  diff: z.boolean().default(false),
  path: Path.optional().meta({ description: 'Only this file or directory.' }),
  max_output_tokens: hidden(MaxOutputTokens),
});

/** Offered only by a toolbox whose commands hold their changes. */
export const heldChanges = tool({
  name: 'held_changes',
  title: 'Show held changes',
  description: 'Lists the files you changed, or their diff. The user applies the changes at the end.',
  input: Arguments,
  output: z.object({
    created: z.number().int(),
    modified: z.number().int(),
    deleted: z.number().int(),
    content: z.string(),
    truncated: z.boolean(),
    original_token_count: z.number().int(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async run(args, context) {
    const set = context.environment.changes(context.settings.changesId ?? '');
    try {
      return await show(set, args, context);
    } catch (error) {
      // No command has run yet.
      if (isExecError(error, 'changesNotFound')) return answerWith(emptyText(context), NONE);
      throw error;
    }
  },
});

const NONE = { created: 0, modified: 0, deleted: 0 };

async function show(
  set: ChangeSet,
  { diff, path, max_output_tokens }: z.output<typeof Arguments>,
  context: ToolContext,
): Promise<ToolResult> {
  const paths = path === undefined ? undefined : [await absolutePath(path, context)];
  const maxTokens = Math.min(max_output_tokens, MAX_OUTPUT_TOKENS);
  const content = new BudgetedText({ maxTokens, tokenizer: context.settings.tokenizer });
  const { counts } = await set.list({ limit: 1 });
  for await (const text of diff ? diffTexts(set, paths) : lines(set, paths)) content.append(text);
  return answerWith(content, counts);
}

function emptyText({ settings }: ToolContext): BudgetedText {
  return new BudgetedText({ maxTokens: MAX_OUTPUT_TOKENS, tokenizer: settings.tokenizer });
}

async function* diffTexts(set: ChangeSet, paths: readonly string[] | undefined): AsyncGenerator<string> {
  for (let cursor: string | null = null; ; ) {
    const page = await set.diff({ cursor, ...(paths ? { paths } : {}) });
    for (const { text } of page.diffs) yield text;
    cursor = page.cursor;
    if (cursor === null) return;
  }
}

async function* lines(set: ChangeSet, paths: readonly string[] | undefined): AsyncGenerator<string> {
  for (let cursor: string | null = null; ; ) {
    const page = await set.list({ cursor });
    for (const change of page.changes) if (isWanted(change, paths)) yield lineOf(change);
    cursor = page.cursor;
    if (cursor === null) return;
  }
}

function isWanted({ path }: HeldChange, paths: readonly string[] | undefined): boolean {
  return paths?.every((wanted) => path === wanted || path.startsWith(`${wanted}/`)) ?? true;
}

function lineOf({ kind, path, type }: HeldChange): string {
  return `${CHANGE_LETTERS[kind]} ${path}${type === 'directory' ? '/' : ''}\n`;
}

function answerWith(content: BudgetedText, counts: typeof NONE): ToolResult {
  const { text, truncated, originalTokens } = content.finish();
  const { created, modified, deleted } = counts;
  const head = `${created} created, ${modified} modified, ${deleted} deleted\n`;
  return answer(head + text, { ...counts, content: text, truncated, original_token_count: originalTokens });
}
