import { loadLibc } from './libc.js';
import { linux } from './linux.js';

/** What the kernel counts start times in, on all machines. */
const TICKS_PER_SECOND = 100;
const NANOSECONDS_PER_TICK = 1_000_000_000 / TICKS_PER_SECOND;

const time = new BigInt64Array(2);

/** The time now as the kernel tells start times of processes; 0 where it cannot be told. */
export function bootTicks(): number {
  if (loadLibc()?.clockGettime(linux.CLOCK_BOOTTIME, time) !== 0) return 0;
  return Number(time[0]) * TICKS_PER_SECOND + Math.floor(Number(time[1]) / NANOSECONDS_PER_TICK);
}
