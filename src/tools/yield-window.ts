import { setTimeout as delay } from 'node:timers/promises';
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
  } catch (error) {
    // Whichever noticed first, a cancelled call is reported by the one whose words are meant for callers.
    await end;
    throw error;
  } finally {
    stop.abort();
  }
}

/** Resolves when the program waits for input. Rejects when aborted. */
export async function inputWanted(
  session: ToolSession,
  { signal, everyMs }: { signal: AbortSignal; everyMs?: number },
): Promise<void> {
  let pauseMs = everyMs ?? FIRST_LOOK_MS;
  for (let seenWaitingAt: number | null = null; ; ) {
    const before = session.transcript.end;
    await delay(seenWaitingAt === null ? pauseMs : SETTLE_MS, undefined, { signal });
    const { needsInput } = await inputState(session);
    const { end } = session.transcript;
    if (needsInput && seenWaitingAt === end) return;
    seenWaitingAt = needsInput ? end : null;
    pauseMs = everyMs ?? (end > before ? FIRST_LOOK_MS : Math.min(pauseMs * 2, LAST_LOOK_MS));
  }
}
