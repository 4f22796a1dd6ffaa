import type { TreeOwner } from '../../host/index.js';
import type { ProcessContext } from '../handlers/process-context.js';

/** The owner of a process tree, as far as this client may know: everything except the kept processes of other principals. */
export function treeOwners({
  session,
  sessions,
  keep,
}: ProcessContext): (treeId: number) => TreeOwner | undefined {
  return (treeId) => {
    const own = session().processes.ownerOf(treeId) ?? keep.ownerOf(treeId);
    if (own !== undefined) return { processId: own };
    for (const other of sessions.all()) {
      const processId = other.processes.ownerOf(treeId);
      if (processId !== undefined) return { processId, sessionId: other.id };
    }
    return undefined;
  };
}
