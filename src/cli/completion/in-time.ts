import { setTimeout as delay } from 'node:timers/promises';

/** Nobody waits longer than this for Tab. */
const TIMEOUT_MS = 3_000;

/** What another machine answers, or an error if that takes too long. */
export async function inTime<Value>(asking: Promise<Value>): Promise<Value> {
  const timeout = delay(TIMEOUT_MS, undefined, { ref: false }).then((): Value => {
    throw new Error('timed out');
  });
  return await Promise.race([asking, timeout]);
}
