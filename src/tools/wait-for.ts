import { z } from 'zod';
import {
  DEFAULT_OUTPUT_TOKENS,
  hidden,
  MaxOutputTokens,
  milliseconds,
  PATTERN,
  Raw,
  SessionId,
} from './arguments.js';
import { CommandReport, reportCommand } from './command-report.js';
import { reportProgress } from './progress.js';
import { tool } from './tool.js';
import { waitForFirst, type WaitOutcome } from './wait-conditions.js';

/** One hour: enough for a long build, and an end for a forgotten call. */
const MAX_WAIT_MS = 3_600_000;

/**
 * Shown of the output once a line or a port has come, unless the call asks for an amount: the event is what was waited
 * for, and `read_output` has the rest.
 */
const EVENT_OUTPUT_TOKENS = 100;

export const waitFor = tool({
  name: 'wait_for',
  title: 'Wait for an event',
  description: 'Waits until a condition is met or the command ends, then returns its new output.',
  input: z.object({
    session_id: SessionId,
    exit: hidden(z.boolean().default(true)),
    pattern: z
      .string()
      .optional()
      .meta({
        description: `New output matches ${PATTERN}.`,
      }),
    quiet_ms: z.number().min(0).optional().meta({ description: 'No output for this long.' }),
    port: z.number().int().min(1).max(65_535).optional().meta({
      description: 'This TCP port is open.',
    }),
    needs_input: z.boolean().optional(),
    timeout_ms: milliseconds({ default: 60_000 }),
    max_output_tokens: hidden(MaxOutputTokens),
    raw: hidden(Raw),
  }),
  output: CommandReport.extend({
    happened: z.enum(['exit', 'pattern', 'quiet', 'port', 'needs_input', 'timeout']),
    match: z.string().nullable().meta({ description: 'The line that matched.' }),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async run(args, context) {
    const startedAt = performance.now();
    const session = context.sessions.getUnreported(args.session_id);
    using _progress = reportProgress(session, context);
    const timeoutMs = Math.min(args.timeout_ms, MAX_WAIT_MS);
    const outcome = await waitForFirst(session, context, { ...args, timeoutMs });
    // If contact was lost, the command may still be running.
    const event = session.failure ? undefined : describe(outcome);
    const { happened, match } = outcome;
    const isEvent = happened === 'pattern' || happened === 'port';
    const max_output_tokens =
      isEvent && args.max_output_tokens === DEFAULT_OUTPUT_TOKENS
        ? EVENT_OUTPUT_TOKENS
        : args.max_output_tokens;
    const report = await reportCommand(session, context, { ...args, max_output_tokens, event, startedAt });
    return { ...report, structured: { ...report.structured, happened, match } };
  },
});

/** Ends and prompts are part of the state. */
function describe({ happened, match }: WaitOutcome): string | undefined {
  switch (happened) {
    case 'exit':
    case 'needs_input':
      return undefined;
    case 'pattern':
      return `Matched: ${match}`;
    case 'quiet':
      return 'Quiet';
    case 'port':
      return 'Port open';
    case 'timeout':
      return 'Timed out';
  }
}
