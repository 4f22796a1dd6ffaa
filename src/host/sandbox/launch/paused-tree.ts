import { childrenOf, threadsOf } from '../../kernel/index.js';
import { isStopped, send } from './process-state.js';
import type { SandboxStatus } from './status.js';

/** A tree that still grows after being stopped this often does so on purpose. */
const MAX_PASSES = 200;

/** Processes stopped until `resume`. */
export interface PausedTree {
  readonly pids: readonly number[];
  resume(): void;
}

interface PauseOptions {
  /** If another server had begun to stop the tree: the processes that were stopped before that. */
  readonly stoppedBefore?: readonly number[] | undefined;
  /** Called before the first one is stopped. */
  readonly begins: (stoppedBefore: readonly number[]) => void;
}

interface Pauses {
  count: number;
  /** Whom we have stopped. */
  readonly stopped: Set<number>;
}

/** A tree may be paused for several reasons at a time. It continues when the last one no longer applies. */
const pausesOf = new WeakMap<SandboxStatus, Pauses>();

/** Stops everything below the first process of a sandbox. Null if it multiplies faster than it can be stopped. */
export function pauseTree(
  sandbox: SandboxStatus,
  init: number,
  { stoppedBefore, begins }: Partial<PauseOptions> = {},
): PausedTree | null {
  const pauses = pausesOf.get(sandbox) ?? { count: 0, stopped: new Set() };
  pausesOf.set(sandbox, pauses);
  pauses.count += 1;
  // Processes a shell inside has stopped stay stopped.
  const staysStopped = (pid: number): boolean =>
    stoppedBefore?.includes(pid) ?? (isStopped(pid) && !pauses.stopped.has(pid));
  const seen = new Set<number>();
  begins?.(stoppedBefore ?? descendantsOf(init).filter(staysStopped));
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const fresh = descendantsOf(init).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return { pids: [...seen], resume: () => end(pauses) };
    for (const pid of fresh) {
      seen.add(pid);
      if (!staysStopped(pid) && send(pid, 'SIGSTOP')) pauses.stopped.add(pid);
    }
  }
  end(pauses);
  return null;
}

/** One reason is over. Children first: a shell that checks on them finds them running. */
function end(pauses: Pauses): void {
  pauses.count -= 1;
  if (pauses.count > 0) return;
  for (const pid of [...pauses.stopped].toReversed()) send(pid, 'SIGCONT');
  pauses.stopped.clear();
}

/** Parents before their children. */
function descendantsOf(pid: number): number[] {
  const found = threadsOf(pid).flatMap(childrenOf);
  return [...found, ...found.flatMap(descendantsOf)];
}
