import { ExecError, isExecError } from '../../protocol/index.js';
import { type Deadline, withDeadline } from '../../transport/deadline.js';
import { type BulkRequest, sendRequest } from './bulk.js';
import type { Connection, OpeningConnection } from './connection.js';
import { isInvalidRequest } from './remote-errors.js';
import { isRepeatable } from './retry-rules.js';

/** The outcome of a request sent before the handshake was answered. */
export type EarlyOutcome =
  | { readonly kind: 'answered'; readonly connection: Connection; readonly answer: Promise<unknown> }
  /** Nothing was done: the server treated it as sent before the handshake. */
  | { readonly kind: 'tooEarly' }
  /** There is no session to run it in, or it is unknown whether there is one. */
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Sends a request right after the handshake. Its answer can only be trusted once the handshake is answered, because
 * that tells which session it was for.
 */
export async function sendEarly(
  { peer, opened }: OpeningConnection,
  request: BulkRequest,
  deadline: Deadline,
): Promise<EarlyOutcome> {
  const { method } = request;
  const answer = sendRequest(peer, request, deadline);
  // It may fail together with the handshake, before anything awaits it.
  answer.catch(() => undefined);
  const handshake = opened.then(
    (connection) => ({ connection }),
    (error: unknown) => ({ error }),
  );
  const outcome = await withDeadline(handshake, {
    ...deadline,
    what: method,
    late: () => new ExecError('requestTimeout', `No answer to ${method} within ${deadline.timeoutMs} ms.`),
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

/** Whether the server refused the handshake. Nothing sent after it was executed. */
export function isRefusal(error: unknown): boolean {
  return isExecError(error) && error.data.rpcCode !== undefined;
}
