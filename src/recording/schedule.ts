import type { Cue, Cues } from './cue.js';

export interface ScheduleOptions {
  /** Times as fast. Default 1. */
  readonly speed?: number | undefined;
  /** No pause is longer, before `speed`. Default: what the recording asks for, if anything. */
  readonly idleLimitMs?: number | undefined;
  /** Show at once what happened before. In the time of the recording. */
  readonly fromMs?: number | undefined;
}

export interface Scheduled {
  /** After the one before. */
  readonly waitMs: number;
  readonly cue: Cue;
}

/** Text that is due at once is put together up to this much: a jump should not draw every step. */
const ENOUGH_CHARS = 64 * 1024;

/** When each cue is due. */
export async function* schedule(cues: Cues, options: ScheduleOptions = {}): AsyncGenerator<Scheduled, void> {
  const { speed = 1, fromMs = 0 } = options;
  let { idleLimitMs } = options;
  let lastMs = fromMs;
  let pending: { waitMs: number; cue: Cue & { type: 'text' } } | undefined;
  for await (const cue of cues) {
    if (cue.type === 'start') idleLimitMs ??= cue.idleLimitMs ?? undefined;
    const pauseMs = Math.max(0, cue.atMs - lastMs);
    lastMs = Math.max(lastMs, cue.atMs);
    const waitMs = Math.min(pauseMs, idleLimitMs ?? Number.POSITIVE_INFINITY) / speed;
    if (cue.type === 'text' && pending && waitMs === 0 && pending.cue.text.length < ENOUGH_CHARS) {
      pending.cue = { ...cue, text: pending.cue.text + cue.text };
      continue;
    }
    if (pending) yield pending;
    pending = undefined;
    if (cue.type === 'text') pending = { waitMs, cue };
    else yield { waitMs, cue };
  }
  if (pending) yield pending;
}
