import { stopListening } from './reaper.js';
import { dismissWatchdog } from './watchdog.js';

let claims = 0;

/**
 * Tells that somebody is going to start children. With the last claim that is released, what starting them did to this
 * process is undone: the signal handler and the watchdog go, as if they had never been there. Returns the release, to be
 * called when all those children are gone.
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
