import { ExecError, isExecError } from '../../protocol/index.js';
import { type Deadline, withDeadline } from '../../transport/deadline.js';
import { type BulkRequest, post } from './bulk.js';
import type { CallOptions } from './client-options.js';
import type { Connection } from './connection.js';
import type { CurrentLine } from './current-line.js';
import { contactLost } from './remote-errors.js';
import { isRepeatable, isSessionBound } from './retry-rules.js';
import { isRefusal, sendAhead } from './send-ahead.js';

/** What an exchange needs of the client it is made by. */
export interface ExchangeContext {
  readonly line: CurrentLine;
  /** The session there is now. */
  readonly sessionId: string | undefined;
  /** The first session is being opened. */
  readonly isOpening: boolean;
  /** A connection, sooner or later. */
  readonly expected: () => Promise<Connection>;
  /** Whether a connection that ended is followed by another one. */
  readonly comesBack: () => boolean;
}

/** Stands for the session that is being opened: it has no id yet. */
const THE_FIRST = Symbol('the session being opened');

/** Sends a request and waits for its answer, across reconnects if need be. */
export async function exchange(
  context: ExchangeContext,
  request: BulkRequest,
  options: CallOptions,
): Promise<unknown> {
  const { method } = request;
  const { timeoutMs, signal, sameSession = isSessionBound(method) } = options;
  const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const session = context.isOpening ? THE_FIRST : context.sessionId;
  const assertSession = ({ sessionId }: Connection): void => {
    if (sameSession && session !== THE_FIRST && sessionId !== session)
      throw contactLost('its session is gone');
  };
  const mayRepeat = (error: unknown): boolean =>
    isExecError(error, 'connectionClosed') && context.comesBack() && isRepeatable(method);
  for (;;) {
    const patience = (): Deadline => ({
      timeoutMs: deadline === undefined ? undefined : Math.ceil(deadline - performance.now()),
      signal,
    });
    // No turn of the event loop passes while connected: calls leave in the order they were made.
    const line =
      context.line.now ?? (await patiently(context.line.next(context.expected()), method, patience()));
    if ('sessionId' in line) assertSession(line);
    try {
      if ('sessionId' in line) return await post(line.peer, request, patience());
      const outcome = await sendAhead(line, request, patience());
      if (outcome.kind === 'answered') {
        assertSession(outcome.connection);
        return await outcome.answer;
      }
      if (outcome.kind === 'tooEarly') continue;
      const { error } = outcome;
      // Who connects for the first time is told why that failed.
      if (session === THE_FIRST) throw error;
      // Behind a refusal nothing was done; else it may have been.
      if (!isRefusal(error) && !isRepeatable(method))
        throw new ExecError('connectionClosed', 'The connection ended in the handshake.', { cause: error });
    } catch (error) {
      if (!mayRepeat(error)) throw error;
    }
  }
}

/** Waits for a connection as long as a call may take. */
export function patiently<Value>(coming: Promise<Value>, method: string, patience: Deadline): Promise<Value> {
  return withDeadline(coming, {
    ...patience,
    what: method,
    late: () => new ExecError('requestTimeout', `No connection for ${method} in time.`),
  });
}
