import { ExecError, isExecError } from '../../protocol/index.js';
import { type Deadline, withDeadline } from '../../transport/deadline.js';
import { type BulkRequest, post } from './bulk.js';
import type { Connection, OpeningConnection } from './connection.js';
import { isInvalidRequest } from './remote-errors.js';
import { isRepeatable } from './retry-rules.js';

/** What came of a request that did not wait for the handshake. */
export type AheadOutcome =
  | { readonly kind: 'answered'; readonly connection: Connection; readonly answer: Promise<unknown> }
  /** Nothing was done: the server took it for one that came before the handshake. */
  | { readonly kind: 'tooEarly' }
  /** There is no session to do it in, or nobody knows whether there is one. */
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Sends a request right behind a handshake. What it is answered means something only once the handshake is, since that
 * tells whose session it was.
 */
export async function sendAhead(
  { peer, opened }: OpeningConnection,
  request: BulkRequest,
  patience: Deadline,
): Promise<AheadOutcome> {
  const { method } = request;
  const answer = post(peer, request, patience);
  // It may fail while nobody looks, together with the handshake.
  answer.catch(() => undefined);
  const handshake = opened.then(
    (connection) => ({ connection }),
    (error: unknown) => ({ error }),
  );
  const outcome = await withDeadline(handshake, {
    ...patience,
    what: method,
    late: () => new ExecError('requestTimeout', `No answer to ${method} within ${patience.timeoutMs} ms.`),
  });
  if ('error' in outcome) return { kind: 'failed', error: outcome.error };
  try {
    await answer;
  } catch (error) {
    if (isExecError(error, 'notInitialized')) return { kind: 'tooEarly' };
    if (isInvalidRequest(error) && isRepeatable(method)) return { kind: 'tooEarly' };
  }
  return { kind: 'answered', connection: outcome.connection, answer };
}

/** Whether a handshake was answered with a refusal: then nothing behind it was done. */
export function isRefusal(error: unknown): boolean {
  return isExecError(error) && error.data.rpcCode !== undefined;
}
