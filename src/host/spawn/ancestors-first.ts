import type { ScannedProcess } from './process-scan.js';

/**
 * Parents before their children: a shell that sees its child killed says so, and what it says would look like output of
 * the program. Usually parents have the lower pids, but pids start over.
 */
export function ancestorsFirst<Member extends Pick<ScannedProcess, 'pid' | 'parent'>>(
  members: readonly Member[],
): Member[] {
  const byPid = new Map(members.map((member) => [member.pid, member]));
  const ordered = new Set<Member>();
  const add = (member: Member): void => {
    // A scan takes a while: pids may have changed hands meanwhile, and lead in a circle. A set has nobody twice.
    const line = new Set<Member>();
    for (let each: Member | undefined = member; each && !ordered.has(each) && !line.has(each); ) {
      line.add(each);
      each = byPid.get(each.parent);
    }
    for (const each of [...line].toReversed()) ordered.add(each);
  };
  for (const member of members) add(member);
  return [...ordered];
}
