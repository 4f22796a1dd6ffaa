import { ExecError } from '../../protocol/errors.js';
import { withDeadline } from '../../transport/deadline.js';

/** The finding for one layer. */
export interface Diagnosis {
  readonly layer: string;
  readonly verdict: 'ok' | 'slow' | 'broken' | 'absent';
  /** The measured time; null if there is nothing to measure. */
  readonly ms: number | null;
  readonly hint: string | null;
}

/** A check of one layer. */
export interface Probe {
  readonly layer: string;
  /** Slower than this gets a hint. Generous: a busy machine is not a broken one. */
  readonly slowMs: number;
  readonly slowHint: string;
  /** Resolves to the time to judge, if that is not the whole duration of the probe. */
  readonly measure: () => Promise<number | void>;
}

/** A probe that takes longer is stuck. */
const STUCK_MS = 10_000;

/** Runs a probe. Never rejects: an error is a finding. */
export async function diagnose(probe: Probe): Promise<Diagnosis> {
  const { layer, slowMs, slowHint } = probe;
  const began = performance.now();
  try {
    const measured = await withDeadline(probe.measure(), {
      timeoutMs: STUCK_MS,
      what: layer,
      late: () =>
        new ExecError('requestTimeout', `Nothing happened within ${STUCK_MS / 1000} s: it is stuck.`),
    });
    const ms = measured ?? performance.now() - began;
    const slow = ms > slowMs;
    return { layer, verdict: slow ? 'slow' : 'ok', ms: rounded(ms), hint: slow ? slowHint : null };
  } catch (error) {
    const hint = error instanceof Error ? error.message : String(error);
    return { layer, verdict: 'broken', ms: null, hint };
  }
}

/** The median of several measurements, so that a single slow one does not count. */
export async function medianOf(count: number, action: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    await action();
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(count / 2)] ?? 0;
}

/** From here on the line dominates the measurement, and repeating it adds nothing but time. */
export const FAR_MS = 50;

/** The round-trip time to a server: the median of several requests if it is near, a single one if it is far. */
export async function roundTripMs(count: number, ask: () => Promise<unknown>): Promise<number> {
  const first = await medianOf(1, ask);
  return first >= FAR_MS ? first : await medianOf(count, ask);
}

/** Two decimals: these measurements are not more precise. */
export function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
