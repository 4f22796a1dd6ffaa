import type { ScannedProcess } from './process-scan.js';

/** A process seen in a tree although it has no mark. Once its parent is gone there may be no other evidence. */
interface Sighting {
  readonly treeId: number;
  readonly startTick: number;
}

const members = new Map<number, Sighting>();
/** By session id; the start is that of its leader, or NaN if the leader was gone. */
const sessions = new Map<number, Sighting>();

/** Call after every scan. Remembers all members of trees in which a process has lost its mark. */
export function rememberSeen(
  trees: ReadonlyMap<number, readonly ScannedProcess[]>,
  processes: readonly ScannedProcess[],
): void {
  const unmarkedTrees = [...trees].filter(([, seen]) => seen.some(({ treeId }) => treeId === null));
  if (unmarkedTrees.length === 0) return;
  const starts = new Map(processes.map(({ pid, startTick }) => [pid, startTick]));
  for (const [treeId, seen] of unmarkedTrees) {
    for (const { pid, session, startTick } of seen) {
      members.set(pid, { treeId, startTick });
      sessions.set(session, { treeId, startTick: starts.get(session) ?? Number.NaN });
    }
  }
}

/**
 * The tree a process was seen in, by itself or by its session, which can only be joined by birth. A session id stays
 * taken while the session has members; a leader we have not seen before means that the id was reused.
 */
export function seenIn(
  { pid, session, startTick }: ScannedProcess,
  startOf: (pid: number) => number | undefined,
): number | undefined {
  const self = members.get(pid);
  if (self?.startTick === startTick) return self.treeId;
  const shared = sessions.get(session);
  if (shared === undefined) return undefined;
  const leader = startOf(session);
  return leader === undefined || leader === shared.startTick ? shared.treeId : undefined;
}

/** The tree is gone. */
export function forgetSeen(treeId: number): void {
  for (const table of [members, sessions]) {
    for (const [number, sighting] of table) if (sighting.treeId === treeId) table.delete(number);
  }
}
