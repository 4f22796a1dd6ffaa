import { loadLibc } from './libc.js';
import { linux } from './linux.js';

/** The kernel reports start times in these ticks on every architecture. */
const TICKS_PER_SECOND = 100;
const NANOSECONDS_PER_TICK = 1_000_000_000 / TICKS_PER_SECOND;

const time = new BigInt64Array(2);

/** The current time in the unit of process start times; 0 if the clock cannot be read. */
export function bootTicks(): number {
  if (loadLibc()?.clockGettime(linux.CLOCK_BOOTTIME, time) !== 0) return 0;
  return Number(time[0]) * TICKS_PER_SECOND + Math.floor(Number(time[1]) / NANOSECONDS_PER_TICK);
}
