import { marksAvailable, withGuardedMark } from './tree-mark.js';
import { ensureWatchdog } from './watchdog.js';

/**
 * Runs `spawn` so that the watchdog ends what it starts if we are killed. bubblewrap dies with us by itself, but the first
 * process inside it does not: if bubblewrap is killed before it has let that process go, it waits forever.
 */
export function spawnGuarded<Child>(spawn: () => Child): Child {
  if (!marksAvailable()) return spawn();
  ensureWatchdog();
  return withGuardedMark(spawn);
}
