import { stopListening } from './reaper.js';
import { dismissWatchdog } from './watchdog.js';

let claims = 0;

/**
 * Announces that the caller is going to start children. When the last claim is released, the side effects of starting
 * them are undone: the signal handler and the watchdog go away. Returns the release function, to be called once all
 * those children are gone.
 */
export function claimHost(): () => void {
  let held = true;
  claims += 1;
  return () => {
    if (!held) return;
    held = false;
    claims -= 1;
    if (claims > 0) return;
    dismissWatchdog();
    stopListening();
  };
}
