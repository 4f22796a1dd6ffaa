import { childrenOf, threadsOf } from '../../kernel/index.js';
import { isStopped, send } from './process-state.js';

/** A tree that still grows after being stopped this often does so on purpose. */
const MAX_PASSES = 200;

/** Processes stopped until `resume`. */
export interface PausedTree {
  readonly pids: readonly number[];
  resume(): void;
}

/** Stops everything below the first process of a sandbox. Null if it multiplies faster than it can be stopped. */
export function pauseTree(init: number): PausedTree | null {
  const seen = new Set<number>();
  const stopped: number[] = [];
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const fresh = descendantsOf(init).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return { pids: [...seen], resume: () => resume(stopped) };
    for (const pid of fresh) {
      seen.add(pid);
      // Processes a shell inside has stopped stay stopped.
      if (!isStopped(pid) && send(pid, 'SIGSTOP')) stopped.push(pid);
    }
  }
  resume(stopped);
  return null;
}

/** Children first: a shell that checks on them finds them running. */
function resume(stopped: readonly number[]): void {
  for (const pid of stopped.toReversed()) send(pid, 'SIGCONT');
}

/** Parents before their children. */
function descendantsOf(pid: number): number[] {
  const found = threadsOf(pid).flatMap(childrenOf);
  return [...found, ...found.flatMap(descendantsOf)];
}
