import { setTimeout as delay } from 'node:timers/promises';
import { portOpened } from './port-probe.js';
import { PatternWatch } from './session/pattern-watch.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil } from './session/wait-until.js';
import { SafePattern } from './text/safe-pattern.js';
import type { ToolContext } from './tool.js';
import { inputWanted } from './yield-window.js';

/** The first thing that happened. */
export interface Happening {
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
  /** Aborted as soon as something happened. */
  readonly signal: AbortSignal;
}

/** Who waits for a prompt wants to know soon. */
const INPUT_LOOK_MS = 100;
/** A wait for "as long as it takes": timers count in 32 bits. */
const FOR_EVER_MS = 0x7fff_ffff;

/** Waits for the first of the conditions, the end of the command or the time. Throws `aborted` when cancelled. */
export async function waitForFirst(
  session: ToolSession,
  context: ToolContext,
  conditions: Conditions,
): Promise<Happening> {
  const { pattern, quiet_ms: quietMs, port, needs_input: needsInput, timeoutMs } = conditions;
  const compiled = pattern === undefined ? null : new SafePattern(pattern);
  const stopper = new AbortController();
  const watch: Watch = { session, context, signal: stopper.signal };
  const waits: Promise<Happening>[] = [exitOrTimeout(watch, timeoutMs)];
  if (compiled) waits.push(patternMatched(watch, compiled));
  if (quietMs !== undefined) waits.push(wentQuiet(watch, quietMs));
  if (port !== undefined) waits.push(portIsOpen(watch, port));
  if (needsInput) waits.push(waitsForInput(watch));
  // Those that lose are told to stop; that they then reject concerns nobody.
  for (const wait of waits) wait.catch(() => undefined);
  try {
    return await Promise.race(waits);
  } finally {
    stopper.abort();
  }
}

async function exitOrTimeout({ session, context, signal }: Watch, timeoutMs: number): Promise<Happening> {
  const either = context.signal ? AbortSignal.any([context.signal, signal]) : signal;
  const over = await waitUntil(session, () => session.over, { timeoutMs, signal: either });
  return { happened: over ? 'exit' : 'timeout', match: null };
}

async function patternMatched({ session, context, signal }: Watch, pattern: SafePattern): Promise<Happening> {
  const { maxLineChars } = context.settings;
  const watch = new PatternWatch({ session, pattern, maxLineChars });
  for (;;) {
    const seen = session.transcript.end;
    const match = await watch.look();
    if (match !== null) return { happened: 'pattern', match };
    const news = (): boolean => session.transcript.end > seen;
    await waitUntil(session, news, { timeoutMs: FOR_EVER_MS, signal });
  }
}

async function wentQuiet({ session, signal }: Watch, quietMs: number): Promise<Happening> {
  const startedAtMs = performance.now();
  for (;;) {
    const quietFor = performance.now() - Math.max(startedAtMs, session.lastOutputAtMs);
    if (quietFor >= quietMs) return { happened: 'quiet', match: null };
    await delay(quietMs - quietFor, undefined, { signal });
  }
}

async function portIsOpen({ context, signal }: Watch, port: number): Promise<Happening> {
  await portOpened(context.environment, port, signal);
  return { happened: 'port', match: null };
}

async function waitsForInput({ session, signal }: Watch): Promise<Happening> {
  await inputWanted(session, { signal, everyMs: INPUT_LOOK_MS });
  return { happened: 'needs_input', match: null };
}
