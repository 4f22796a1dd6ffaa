import type { Cue, Cues } from './cue.js';

export interface ScheduleOptions {
  /** A factor. Default 1. */
  readonly speed?: number | undefined;
  /** The longest pause, before `speed` applies. Default: that of the recording, if any. */
  readonly idleLimitMs?: number | undefined;
  /** Skip to this time of the recording, showing everything before it at once. */
  readonly fromMs?: number | undefined;
}

export interface Scheduled {
  /** How long to wait after the previous cue. */
  readonly waitMs: number;
  readonly cue: Cue;
}

/** Text that is due at the same time is joined up to this length, so that a jump does not draw every step. */
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
