import { releaseAllPlaceholders } from './sandbox/index.js';
import { dismissWatchdog } from './spawn/index.js';

/**
 * For a server that has ended everything it started and is about to exit. Sandboxes that were still being made when it was told
 * to end are gone by now, but nobody waits until that is noticed: what they held in a workspace would stay there.
 */
export function leaveHost(): void {
  releaseAllPlaceholders();
  dismissWatchdog();
}
