import { type PossibleTrees, treeOfOrphan } from './orphan-tree.js';
import { type KnownTree, knownTrees } from './known-trees.js';
import { ownStat, type Scan, type ScannedProcess } from './process-scan.js';
import { rememberSeen, seenIn } from './sightings.js';

/** The running members of each tree. */
export type ProcessTrees = ReadonlyMap<number, readonly ScannedProcess[]>;

/** An orphan and its descendants, known only to belong to one of these trees. */
export interface UnplacedOrphan {
  readonly members: readonly ScannedProcess[];
  readonly treeIds: readonly number[];
}

export interface SortedProcesses {
  readonly trees: ProcessTrees;
  readonly unplaced: readonly UnplacedOrphan[];
}

/**
 * Sorts processes into trees. Members are those with the tree's mark and, as long as its pid is still its own, the
 * child itself. Every descendant of a member belongs as well, since a server inside a tree marks its own children anew;
 * so does everyone in a member's session, since `su` drops the mark and parents die. A process that lost even those
 * ties has become our own child, if we adopt orphans.
 */
export function sortIntoTrees({ processes, beganAt }: Scan): SortedProcesses {
  const sorter = new TreeSorter(processes);
  for (const each of processes) if (each.treeId !== null) sorter.add(each.treeId, each);
  for (const tree of knownTrees().values()) {
    for (const each of sorter.rootsOf(tree, beganAt)) sorter.add(tree.root.treeId, each);
  }
  for (const each of processes) {
    const treeId = seenIn(each, sorter.startOf);
    if (treeId !== undefined) sorter.add(treeId, each);
  }
  const orphans = processes.map((each): [ScannedProcess, PossibleTrees] => [
    each,
    sorter.isPlaced(each) ? null : treeOfOrphan(each),
  ]);
  for (const [each, treeIds] of orphans) if (treeIds?.length === 1) sorter.add(treeIds[0] ?? 0, each);
  const unplaced = orphans.flatMap(([each, treeIds]) => {
    const members = treeIds !== null && treeIds.length > 1 ? sorter.gather(each) : [];
    return treeIds === null || members.length === 0 ? [] : [{ members, treeIds }];
  });
  rememberSeen(sorter.trees, processes);
  return { trees: sorter.trees, unplaced };
}

class TreeSorter {
  readonly trees = new Map<number, ScannedProcess[]>();
  readonly #byPid: ReadonlyMap<number, ScannedProcess>;
  readonly #byParent: ReadonlyMap<number, ScannedProcess[]>;
  readonly #bySession: ReadonlyMap<number, ScannedProcess[]>;
  readonly #placed = new Set<number>([process.pid]);

  constructor(processes: readonly ScannedProcess[]) {
    this.#byPid = new Map(processes.map((each) => [each.pid, each]));
    this.#byParent = group(processes, ({ parent }) => parent);
    this.#bySession = group(processes, ({ session }) => session);
  }

  readonly startOf = (pid: number): number | undefined => this.#byPid.get(pid)?.startTick;

  isPlaced({ pid }: ScannedProcess): boolean {
    return this.#placed.has(pid);
  }

  add(treeId: number, first: ScannedProcess): void {
    const found = this.gather(first);
    if (found.length === 0) return;
    const members = this.trees.get(treeId);
    if (members) members.push(...found);
    else this.trees.set(treeId, found);
  }

  /**
   * A process with its descendants and session, except those already placed. Watchdogs are spared: they have work to do
   * later.
   */
  gather(first: ScannedProcess): ScannedProcess[] {
    const found: ScannedProcess[] = [];
    const waiting = [first];
    for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
      if (this.#placed.has(member.pid) || member.watchdog) continue;
      this.#placed.add(member.pid);
      found.push(member);
      waiting.push(...(this.#byParent.get(member.pid) ?? []));
      // Each of our children leads a session of its own, so none of its descendants is ever in ours.
      if (member.session !== ownStat().session) waiting.push(...(this.#bySession.get(member.session) ?? []));
    }
    return found;
  }

  /**
   * The processes that certainly belong to this tree by its pid: the child or, without marks, its whole session. Once
   * the child is reaped the pid may be reused, but not while its group or session exists.
   */
  rootsOf({ root, reapedAt }: KnownTree, beganAt: number): readonly ScannedProcess[] {
    const leader = this.#byPid.get(root.pid);
    if (reapedAt >= beganAt) return leader ? [leader] : this.#inGroupOf(root.pid);
    return root.marked || leader ? [] : this.#inGroupOf(root.pid);
  }

  /** The leader may be a zombie, which scans leave out. */
  #inGroupOf(pid: number): readonly ScannedProcess[] {
    return this.#bySession.get(pid) ?? [];
  }
}

function group(
  processes: readonly ScannedProcess[],
  keyOf: (each: ScannedProcess) => number,
): Map<number, ScannedProcess[]> {
  const groups = new Map<number, ScannedProcess[]>();
  for (const each of processes) {
    const key = keyOf(each);
    const others = groups.get(key);
    if (others) others.push(each);
    else groups.set(key, [each]);
  }
  return groups;
}
