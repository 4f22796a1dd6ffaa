import { type Belonging, treeOfOrphan } from './orphan-tree.js';
import { type KnownTree, knownTrees } from './known-trees.js';
import { ownStat, type Scan, type ScannedProcess } from './process-scan.js';
import { rememberSeen, seenIn } from './sightings.js';

/** Running members of each tree, by tree. */
export type ProcessTrees = ReadonlyMap<number, readonly ScannedProcess[]>;

/** An orphan with all that descends from it, of which is known only that it belongs to one of these trees. */
export interface Stray {
  readonly members: readonly ScannedProcess[];
  readonly treeIds: readonly number[];
}

export interface Kin {
  readonly families: ProcessTrees;
  readonly strays: readonly Stray[];
}

/**
 * Sorts processes into trees. A member is who carries the mark, and the child itself while it has its number. So is every
 * descendant of a member, since a server that runs inside a tree marks its own children anew, and everybody in the session
 * of a member: `su` takes the mark away, and parents die. What lost even that has become our own child, if we adopt orphans.
 */
export function findKin({ processes, beganAt }: Scan): Kin {
  const gathering = new Gathering(processes);
  for (const each of processes) if (each.treeId !== null) gathering.add(each.treeId, each);
  for (const tree of knownTrees().values()) {
    for (const each of gathering.rootsOf(tree, beganAt)) gathering.add(tree.root.treeId, each);
  }
  for (const each of processes) {
    const treeId = seenIn(each, gathering.startOf);
    if (treeId !== undefined) gathering.add(treeId, each);
  }
  const orphans = processes.map((each): [ScannedProcess, Belonging] => [
    each,
    gathering.isPlaced(each) ? null : treeOfOrphan(each),
  ]);
  for (const [each, treeIds] of orphans) if (treeIds?.length === 1) gathering.add(treeIds[0] ?? 0, each);
  const strays = orphans.flatMap(([each, treeIds]) => {
    const members = treeIds !== null && treeIds.length > 1 ? gathering.gather(each) : [];
    return treeIds === null || members.length === 0 ? [] : [{ members, treeIds }];
  });
  rememberSeen(gathering.families, processes);
  return { families: gathering.families, strays };
}

class Gathering {
  readonly families = new Map<number, ScannedProcess[]>();
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
    const family = this.families.get(treeId);
    if (family) family.push(...found);
    else this.families.set(treeId, found);
  }

  /** A process and its kin, but for those who have a place already. A watchdog is spared: it has work to do later. */
  gather(first: ScannedProcess): ScannedProcess[] {
    const found: ScannedProcess[] = [];
    const waiting = [first];
    for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
      if (this.#placed.has(member.pid) || member.watchdog) continue;
      this.#placed.add(member.pid);
      found.push(member);
      waiting.push(...(this.#byParent.get(member.pid) ?? []));
      // A child of ours leads a session of its own: nobody below it is ever in ours.
      if (member.session !== ownStat().session) waiting.push(...(this.#bySession.get(member.session) ?? []));
    }
    return found;
  }

  /**
   * Who is certainly of this tree by its number: the child, or without marks its whole session. That number is another's
   * once the child is reaped and somebody has it again: the kernel gives it to nobody while its group or session lives.
   */
  rootsOf({ root, reapedAt }: KnownTree, beganAt: number): readonly ScannedProcess[] {
    const leader = this.#byPid.get(root.pid);
    if (reapedAt >= beganAt) return leader ? [leader] : this.#inGroupOf(root.pid);
    return root.marked || leader ? [] : this.#inGroupOf(root.pid);
  }

  /** The child may be a zombie, which is not seen. */
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
