/** Timers use 32 bits, about 24 days of milliseconds; a longer one would fire immediately. */
export const MAX_TIMER_MS = 0x7fff_ffff;
