import type { StoredLog } from '../../spool/index.js';
import type { ProcessContext } from './process-context.js';

/** What a process that is no longer known has left on disk, if it was the client's. The caller closes it. */
export async function storedOutput(
  { session, keep, principal, spool }: ProcessContext,
  processId: string,
): Promise<StoredLog | null> {
  const find = async (owner: string | undefined): Promise<StoredLog | null> =>
    owner === undefined ? null : ((await spool?.find({ owner, processId })) ?? null);
  // One that is still kept has to be attached to.
  return (await find(session().id)) ?? (keep.find(processId) ? null : await find(principal));
}
