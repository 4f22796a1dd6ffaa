import { ExecError, type ExecMethods, type ExecResult } from '../../protocol/index.js';
import type { Handlers } from '../../rpc/index.js';
import type { Share } from '../shares.js';
import type { ProcessContext } from './process-context.js';

type ShareMethods = Pick<ExecMethods, 'process/share' | 'process/shares' | 'process/unshare'>;

const DAY_MS = 24 * 60 * 60_000;
const MAX_MS = 30 * DAY_MS;

/** Shares of a client's own processes. */
export function shareHandlers({ keep, principal, shares }: ProcessContext): Handlers<ShareMethods> {
  return {
    'process/share': ({ processId, forMs }) => {
      const kept = keep.get(processId);
      if (forMs != null && (forMs === 0 || forMs > MAX_MS))
        throw new ExecError('invalidParams', 'params.forMs: at least a millisecond and at most 30 days');
      const { share, token } = shares.create(kept, forMs ?? DAY_MS);
      return { ...rowOf(share), token };
    },
    'process/shares': () => ({ shares: principal === undefined ? [] : shares.of(principal).map(rowOf) }),
    'process/unshare': ({ shareId }) => ({
      revoked: principal !== undefined && shares.revoke(principal, shareId),
    }),
  };
}

function rowOf({ id, processId, expiresAt }: Share): ExecResult<'process/shares'>['shares'][number] {
  return { shareId: id, processId, expiresInMs: Math.max(0, Math.round(expiresAt - performance.now())) };
}
