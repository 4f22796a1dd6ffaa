import { type InputState, inputState } from './input-state.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil, type WaitOptions } from './session/wait-until.js';

/**
 * The kernel sends no event when a program starts to wait for input, and each check scans the whole process table. So
 * checks become rarer the longer nothing happens.
 */
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 2_000;
/**
 * The time between the two checks that must agree. Output may still be on its way to us, and input on its way to the
 * program.
 */
const SETTLE_MS = 30;

/**
 * Waits until the timeout, or earlier if the command ends or waits for input. Throws `aborted` when cancelled.
 */
export async function yieldWindow(session: ToolSession, options: WaitOptions): Promise<void> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const end = waitUntil(session, () => session.over, { ...options, signal });
  const prompt = session.process.tty ? waitForPrompt(session, { signal }) : end;
  // The loser is aborted; its rejection means nothing.
  for (const wait of [end, prompt]) wait.catch(() => undefined);
  try {
    await Promise.race([end, prompt]);
  } finally {
    stop.abort();
  }
}

/** Resolves when the program is waiting for input. Throws `aborted`. */
export async function waitForPrompt(
  session: ToolSession,
  { signal, everyMs }: { signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let pauseMs = everyMs ?? MIN_POLL_MS;
  for (let seenWaitingAt: number | null = null; ; ) {
    const hadOutput = await pauseUntilOutput(session, {
      timeoutMs: seenWaitingAt === null ? pauseMs : SETTLE_MS,
      signal,
    });
    const isLast: boolean = seenWaitingAt !== null;
    // Together, because the machine may be far away. What the first check saw waiting has printed its prompt by now.
    const [{ needsInput }, isComplete]: [InputState, boolean] = await Promise.all([
      inputState(session),
      isLast && session.hasAllOutput().catch(() => false),
    ]);
    const { end } = session.transcript;
    if (needsInput && isComplete && seenWaitingAt === end) return;
    seenWaitingAt = needsInput ? end : null;
    pauseMs = everyMs ?? (hadOutput ? MIN_POLL_MS : Math.min(pauseMs * 2, MAX_POLL_MS));
  }
}

/** Pauses; output ends the pause early, once it has settled, because it may be a prompt. True if there was output. */
async function pauseUntilOutput(session: ToolSession, { timeoutMs, signal }: WaitOptions): Promise<boolean> {
  const grownSince = (end: number) => (): boolean => session.transcript.end > end;
  if (!(await waitUntil(session, grownSince(session.transcript.end), { timeoutMs, signal }))) return false;
  const settle = { timeoutMs: MIN_POLL_MS, signal };
  while (await waitUntil(session, grownSince(session.transcript.end), settle));
  return true;
}
