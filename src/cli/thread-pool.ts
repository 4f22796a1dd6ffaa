import { stat } from 'node:fs';

/**
 * Makes the threads that file operations run on, all of them. They would be made for the first one, and where there is no room
 * for them Node aborts: better before anybody is told that we serve than with programs of many clients running.
 */
export function makeThreadPool(): Promise<void> {
  return new Promise((resolve) => {
    stat('/', () => resolve());
  });
}
