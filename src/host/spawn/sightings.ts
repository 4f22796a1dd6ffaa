import type { ScannedProcess } from './process-scan.js';

/** Who was seen in a tree although no mark says so. Once its parent is gone nothing else may tell. */
interface Sighting {
  readonly treeId: number;
  readonly startTick: number;
}

const members = new Map<number, Sighting>();
/** By the number of the session; the start is that of its leader, or NaN if that was gone. */
const sessions = new Map<number, Sighting>();

/** To be told after every look at the machine. Remembers whole families in which somebody has lost the mark. */
export function rememberSeen(
  families: ReadonlyMap<number, readonly ScannedProcess[]>,
  processes: readonly ScannedProcess[],
): void {
  const wary = [...families].filter(([, family]) => family.some(({ treeId }) => treeId === null));
  if (wary.length === 0) return;
  const starts = new Map(processes.map(({ pid, startTick }) => [pid, startTick]));
  for (const [treeId, family] of wary) {
    for (const { pid, session, startTick } of family) {
      members.set(pid, { treeId, startTick });
      sessions.set(session, { treeId, startTick: starts.get(session) ?? Number.NaN });
    }
  }
}

/**
 * To which tree a process was seen to belong, itself or its session: nobody enters a session but by birth. Its number stays
 * taken while somebody is in it; a leader nobody has seen before means that it was given anew.
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
