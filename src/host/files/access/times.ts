import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

const MICROSECONDS = 1_000_000;
/** What a number with a fraction may lose on the way from the kernel to here, in microseconds. */
const LOSS = 0.25;
/** Relative to a number, enough to reach the next one and no other. */
const LEAST_STEP = 0.6 * Number.EPSILON;

/** The modification time in whole microseconds, as exactly as Node reports it. */
export function modifiedAtUs(stats: Stats): number {
  return Math.floor(stats.mtimeMs * 1000 + LOSS);
}

/** The arguments of `utimes` and the like. A request for a modification time leaves the access time alone. */
export function timesOf(modified: number): [accessed: number, modified: number] {
  return [Date.now() / 1000, inSeconds(modified)];
}

/** Sets the modification time of what is open, if one is given. */
export async function setTime(handle: FileHandle, modified: number | undefined): Promise<void> {
  if (modified !== undefined) await handle.utimes(...timesOf(modified));
}

/**
 * The next number that is not smaller. Node cuts off what is below a unit of the kernel: a fraction that is a little too small
 * would lose a whole one.
 */
function inSeconds(microseconds: number): number {
  const seconds = microseconds / MICROSECONDS;
  const whole = Math.floor(seconds);
  const isTooSmall = (seconds - whole) * MICROSECONDS < microseconds - whole * MICROSECONDS;
  return isTooSmall ? seconds + Math.abs(seconds) * LEAST_STEP : seconds;
}
