import { setTimeout as delay } from 'node:timers/promises';
import type { LinePattern } from '../lines/index.js';
import { portOpens } from './listening-ports.js';
import { waitForPort } from './port-probe.js';
import { PatternWatch } from './session/pattern-watch.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil } from './session/wait-until.js';
import { textPattern } from './text/text-pattern.js';
import type { ToolContext } from './tool.js';
import { waitForPrompt } from './yield-window.js';

/** Which condition ended the wait. */
export interface WaitOutcome {
  readonly happened: 'exit' | 'pattern' | 'quiet' | 'port' | 'needs_input' | 'timeout';
  readonly match: string | null;
}

interface Conditions {
  readonly pattern?: string | undefined;
  readonly quiet_ms?: number | undefined;
  readonly port?: number | undefined;
  readonly needs_input?: boolean | undefined;
  readonly timeoutMs: number;
}

interface Watch {
  readonly session: ToolSession;
  readonly context: ToolContext;
  /** Aborted once any condition is met. */
  readonly signal: AbortSignal;
}

/** Short: the caller asked for the prompt. */
const PROMPT_POLL_MS = 100;
/** The longest delay a timer takes: they count in 32 bits. */
const NO_TIMEOUT_MS = 0x7fff_ffff;

/** Waits until a condition is met, the command ends or the time is up. Throws `aborted` when cancelled. */
export async function waitForFirst(
  session: ToolSession,
  context: ToolContext,
  conditions: Conditions,
): Promise<WaitOutcome> {
  const { pattern, quiet_ms: quietMs, port, needs_input: needsInput, timeoutMs } = conditions;
  const compiled = pattern === undefined ? null : textPattern(pattern);
  const stopper = new AbortController();
  const watch: Watch = { session, context, signal: stopper.signal };
  const waits: Promise<WaitOutcome>[] = [exitOrTimeout(watch, timeoutMs)];
  if (compiled) waits.push(patternMatch(watch, compiled));
  if (quietMs !== undefined) waits.push(quiet(watch, quietMs));
  if (port !== undefined) waits.push(openPort(watch, port));
  if (needsInput) waits.push(prompt(watch));
  // The losers are aborted; their rejections mean nothing.
  for (const wait of waits) wait.catch(() => undefined);
  try {
    return await Promise.race(waits);
  } finally {
    stopper.abort();
  }
}

async function exitOrTimeout({ session, context, signal }: Watch, timeoutMs: number): Promise<WaitOutcome> {
  const either = context.signal ? AbortSignal.any([context.signal, signal]) : signal;
  const over = await waitUntil(session, () => session.over, { timeoutMs, signal: either });
  return { happened: over ? 'exit' : 'timeout', match: null };
}

async function patternMatch({ session, context, signal }: Watch, pattern: LinePattern): Promise<WaitOutcome> {
  const { maxLineChars } = context.settings;
  const watch = new PatternWatch({ session, pattern, maxLineChars, signal });
  for (;;) {
    const seen = session.transcript.end;
    const match = await watch.check();
    if (match !== null) return { happened: 'pattern', match };
    const hasNewOutput = (): boolean => session.transcript.end > seen;
    await waitUntil(session, hasNewOutput, { timeoutMs: NO_TIMEOUT_MS, signal });
  }
}

async function quiet({ session, signal }: Watch, quietMs: number): Promise<WaitOutcome> {
  const startedAtMs = performance.now();
  for (;;) {
    const quietFor = performance.now() - Math.max(startedAtMs, session.lastOutputAtMs);
    if (quietFor >= quietMs) return { happened: 'quiet', match: null };
    await delay(quietMs - quietFor, undefined, { signal });
  }
}

async function openPort({ context, signal }: Watch, port: number): Promise<WaitOutcome> {
  const { environment } = context;
  // Other servers do not tell, so a program on the machine looks.
  if (!(await portOpens(environment, port, signal))) await waitForPort(environment, port, signal);
  return { happened: 'port', match: null };
}

async function prompt({ session, signal }: Watch): Promise<WaitOutcome> {
  await waitForPrompt(session, { signal, everyMs: PROMPT_POLL_MS });
  return { happened: 'needs_input', match: null };
}
