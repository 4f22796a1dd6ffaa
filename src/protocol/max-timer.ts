/** Timers count in 32 bits, about 24 days of milliseconds: a longer one would fire at once. */
export const MAX_TIMER_MS = 0x7fff_ffff;
