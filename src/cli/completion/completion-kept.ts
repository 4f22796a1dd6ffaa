import { setTimeout as delay } from 'node:timers/promises';
import { closeTarget, openTarget } from '../options/target-options.js';
import { printable } from '../terminal/table.js';
import type { Completion } from './completion-candidates.js';

/** Nobody waits longer than this for Tab. */
const TIMEOUT_MS = 3_000;

/** The kept processes of a server. */
export async function keptIds(target: string | undefined): Promise<Completion> {
  const timeout = delay(TIMEOUT_MS, undefined, { ref: false }).then((): Completion => {
    throw new Error('timed out');
  });
  return await Promise.race([listKept(target), timeout]);
}

async function listKept(target: string | undefined): Promise<Completion> {
  const environment = await openTarget(target === undefined ? {} : { environment: target });
  try {
    const candidates = (await environment.kept())
      .filter(({ processId }) => processId === printable(processId))
      .map(({ processId, argv }) => ({ word: processId, text: printable(argv.join(' ')) }));
    return { candidates, fallback: 'words' };
  } finally {
    await closeTarget(environment);
  }
}
