import { stat } from 'node:fs';

/**
 * Starts all threads for file operations now. Node would start them at the first operation, and abort if it cannot:
 * better before we say that we are ready than while clients have programs running.
 */
export function makeThreadPool(): Promise<void> {
  return new Promise((resolve) => {
    stat('/', () => resolve());
  });
}
