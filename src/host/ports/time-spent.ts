/**
 * Returns a function that says how much of the processor has been used since, in milliseconds. What other work of this process has
 * used counts too, but time spent waiting for a busy machine does not: it costs nobody anything.
 */
export function timeSpent(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1000);
  };
}
