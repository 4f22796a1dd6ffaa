/**
 * Returns a function that tells how much CPU time this process has used since, in milliseconds. Other work of the process
 * counts too, but not the time spent waiting for a busy machine, which costs nothing.
 */
export function timeSpent(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1000);
  };
}
