/**
 * When something expires, for people. Everything here expires on the clock of this process, which nobody sets; this is that moment
 * on the wall clock as it is now.
 */
export function timeOfDay(expiresAt: number): number {
  return Math.round(Date.now() + expiresAt - performance.now());
}
