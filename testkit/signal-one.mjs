/**
 * Signals one process. To the kernel 0 and negative numbers mean groups, and -1 everybody: a test that never learned the pid of its
 * server must not end the machine it runs on.
 * @param {number | null | undefined} pid
 * @param {NodeJS.Signals} signal
 */
export function signalOne(pid, signal) {
  // The first process is nobody's child.
  if (!Number.isInteger(pid) || Number(pid) < 2) throw new Error(`this is not a process to signal: ${pid}`);
  process.kill(Number(pid), signal);
}
