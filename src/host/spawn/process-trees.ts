import type { ScannedProcess } from './process-scan.js';

/** Running members of each tree, by owner. */
export type ProcessTrees = ReadonlyMap<number, readonly ScannedProcess[]>;

/** Owners of trees that carry no mark, by the pid of the child, which leads their session. */
export type Roots = ReadonlyMap<number, number>;

/**
 * Sorts processes into trees. A member is who carries the mark (without marks: who lives in the child's session)
 * and every descendant of a member, since a server that runs inside a tree marks its own children anew. Its watchdog
 * is spared: once that server is dead it ends whatever of its trees cannot be seen from here.
 */
export function findProcessTrees(processes: readonly ScannedProcess[], roots: Roots): ProcessTrees {
  const families = new Map<number, ScannedProcess[]>();
  const childrenOf = byParent(processes);
  const placed = new Set<number>([process.pid]);
  const place = (owner: number, first: ScannedProcess): void => {
    const family = families.get(owner) ?? [];
    families.set(owner, family);
    const waiting = [first];
    for (let member = waiting.pop(); member !== undefined; member = waiting.pop()) {
      if (placed.has(member.pid) || member.watchdog) continue;
      placed.add(member.pid);
      family.push(member);
      waiting.push(...(childrenOf.get(member.pid) ?? []));
    }
  };
  for (const candidate of processes) {
    const owner = candidate.owner ?? roots.get(candidate.session) ?? roots.get(candidate.group);
    if (owner !== undefined) place(owner, candidate);
  }
  return families;
}

function byParent(processes: readonly ScannedProcess[]): Map<number, ScannedProcess[]> {
  const children = new Map<number, ScannedProcess[]>();
  for (const candidate of processes) {
    const siblings = children.get(candidate.parent);
    if (siblings) siblings.push(candidate);
    else children.set(candidate.parent, [candidate]);
  }
  return children;
}
