import { inputState } from './input-state.js';
import type { ToolSession } from './session/tool-session.js';
import { waitUntil, type WaitOptions } from './session/wait-until.js';

/**
 * The kernel does not announce that a program waits, and a look goes through the whole process table: the longer
 * nothing happens, the rarer the looks.
 */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = 2_000;
/**
 * Between the two looks that must agree: what a program printed before it went to sleep may still be on its way to
 * us, and what was typed on its way to the program.
 */
const SETTLE_MS = 30;

/**
 * Waits for a command until its window closes, or nothing more will happen in it: the command has ended, or waits for
 * somebody to type. Throws `aborted` when cancelled.
 */
export async function yieldWindow(session: ToolSession, options: WaitOptions): Promise<void> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const end = waitUntil(session, () => session.over, { ...options, signal });
  const prompt = session.process.tty ? inputWanted(session, { signal }) : end;
  // The one that loses is told to stop; that it then rejects concerns nobody.
  for (const wait of [end, prompt]) wait.catch(() => undefined);
  try {
    await Promise.race([end, prompt]);
  } finally {
    stop.abort();
  }
}

/** Resolves when the program waits for input. Throws `aborted`. */
export async function inputWanted(
  session: ToolSession,
  { signal, everyMs }: { signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let pauseMs = everyMs ?? FIRST_LOOK_MS;
  for (let seenWaitingAt: number | null = null; ; ) {
    const news = await pauseOrNews(session, {
      timeoutMs: seenWaitingAt === null ? pauseMs : SETTLE_MS,
      signal,
    });
    const { needsInput } = await inputState(session);
    const { end } = session.transcript;
    if (needsInput && seenWaitingAt === end) return;
    seenWaitingAt = needsInput ? end : null;
    pauseMs = everyMs ?? (news ? FIRST_LOOK_MS : Math.min(pauseMs * 2, LAST_LOOK_MS));
  }
}

/** A pause that output cuts short, as soon as that has come to a rest: a prompt is worth a look at once. */
async function pauseOrNews(session: ToolSession, { timeoutMs, signal }: WaitOptions): Promise<boolean> {
  const grownSince = (end: number) => (): boolean => session.transcript.end > end;
  if (!(await waitUntil(session, grownSince(session.transcript.end), { timeoutMs, signal }))) return false;
  const rest = { timeoutMs: FIRST_LOOK_MS, signal };
  while (await waitUntil(session, grownSince(session.transcript.end), rest));
  return true;
}
