import type { StoredLog } from '../../spool/index.js';
import type { ProcessContext } from './process-context.js';

/** The output on disk of a process that is no longer known, if it was the client's. The caller closes it. */
export async function storedOutput(
  { session, keep, principal, spool }: ProcessContext,
  processId: string,
): Promise<StoredLog | null> {
  const find = async (owner: string | undefined): Promise<StoredLog | null> =>
    owner === undefined ? null : ((await spool?.find({ owner, processId })) ?? null);
  // A process that is still kept must be attached to instead.
  return (await find(session().id)) ?? (keep.find(processId) ? null : await find(principal));
}
