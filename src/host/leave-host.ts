import { releaseAllPlaceholders } from './sandbox/index.js';
import { dismissWatchdog } from './spawn/index.js';

/**
 * For a server that has ended everything it started and is about to exit. Sandboxes that were still being set up are gone by now,
 * but the server exits before it notices: their placeholders would stay in the workspace.
 */
export function leaveHost(): void {
  releaseAllPlaceholders();
  dismissWatchdog();
}
