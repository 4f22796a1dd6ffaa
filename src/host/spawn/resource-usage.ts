import type { ResourceUsage } from '../../contract/index.js';

export type { ResourceUsage };

/** `struct rusage` on 64-bit machines: two times in seconds and microseconds, then the peak memory in KiB. */
const RUSAGE_BYTES = 144;
const SECONDS_AT = { user: 0, system: 16 } as const;
const PEAK_AT = 32;

/** Filled by `wait4` and `waitid`. The lower halves of its numbers are enough: 136 years, 4 TiB. */
export const rusage = new Int32Array(RUSAGE_BYTES / 4);

/** What the last child that was waited for has used, with all descendants it has waited for. */
export function lastUsage(): ResourceUsage {
  const peakKib = (rusage[PEAK_AT / 4] ?? 0) >>> 0;
  return {
    userMs: msAt(SECONDS_AT.user),
    systemMs: msAt(SECONDS_AT.system),
    peakMemoryBytes: peakKib * 1024,
    // Until it executes its program, a child shares our memory, and the kernel counts that, too.
    ...(peakKib <= process.resourceUsage().maxRSS ? { peakMemoryIsUpperBound: true } : {}),
  };
}

function msAt(offset: number): number {
  const [seconds = 0, microseconds = 0] = [rusage[offset / 4], rusage[offset / 4 + 2]];
  return seconds * 1000 + microseconds / 1000;
}
