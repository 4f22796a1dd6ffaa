import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { giveUpIfLate } from './wait-limit.js';

/** How often either side looks whether the other has come by: often enough not to be felt, rarely enough to be cheap. */
const lookEveryMs = 20;

/** Shell text that waits until the test opens the gate of that name in the working directory. */
export function waitAtGate(name: string): string {
  return `until [ -e ${name} ]; do sleep ${lookEveryMs / 1000}; done`;
}

/** Lets a command that waits at a gate go on. */
export async function openGate(folder: string, name: string): Promise<void> {
  await writeFile(join(folder, name), '');
}

/** Waits for a command to leave a file: the sign that it has come that far. */
export async function fileAppears(folder: string, name: string): Promise<void> {
  const exists = (): Promise<boolean> =>
    access(join(folder, name)).then(
      () => true,
      () => false,
    );
  const since = performance.now();
  while (!(await exists())) {
    giveUpIfLate(since, `the file ${name}`);
    await delay(lookEveryMs);
  }
}

/** Shell text that leaves the command's own pid behind. Renamed into place, so that it is never seen half written. */
export const leavePid = 'echo $$ > pid.new; mv pid.new pid';

/** The pid a command left in its working directory, once it is there. */
export async function readPid(folder: string): Promise<number> {
  await fileAppears(folder, 'pid');
  return Number(await readFile(join(folder, 'pid'), 'utf8'));
}
