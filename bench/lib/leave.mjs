import { endAllChildren, killAllChildren } from './children.mjs';
import { removeScratch } from './scratch.mjs';
import { UsageError } from './usage-error.mjs';

const INTERRUPTED = 130;

let leaving = false;

/**
 * Ends what runs, then this process.
 * @param {number} code
 */
export async function leave(code) {
  leaving = true;
  await endAllChildren();
  process.exit(code);
}

/**
 * Runs a bench from its beginning to the end of this process, and leaves nothing behind: neither what it started nor what it
 * wrote on the way, however it ends.
 * @param {() => Promise<void>} main
 */
export function runAndLeave(main) {
  process.once('exit', () => {
    killAllChildren();
    removeScratch();
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // A second signal means now: what still runs is killed on the way out.
    process.on(signal, () => (leaving ? process.exit(INTERRUPTED) : void leave(INTERRUPTED)));
  }
  main().then(
    () => leave(Number(process.exitCode ?? 0)),
    (error) => {
      // Being interrupted makes what is under way fail, too; that says nothing.
      if (leaving) return undefined;
      console.error(error instanceof UsageError ? error.message : error);
      return leave(error instanceof UsageError ? 2 : 1);
    },
  );
}
