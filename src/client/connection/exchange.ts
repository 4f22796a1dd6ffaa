import { ExecError, isExecError } from '../../protocol/index.js';
import { type Deadline, withDeadline } from '../../transport/deadline.js';
import { type BulkRequest, sendRequest } from './bulk.js';
import type { CallOptions } from './client-options.js';
import type { Connection } from './connection.js';
import type { CurrentLine } from './current-line.js';
import { contactLost } from './remote-errors.js';
import { isRepeatable, isSessionBound } from './retry-rules.js';
import { isRefusal, sendEarly } from './send-early.js';

/** What an exchange needs of its client. */
export interface ExchangeContext {
  readonly line: CurrentLine;
  /** The current session. */
  readonly sessionId: string | undefined;
  /** The first session is being opened. */
  readonly isOpening: boolean;
  /** The current or next connection. */
  readonly nextConnection: () => Promise<Connection>;
  /** Whether a lost connection will be replaced. */
  readonly willReconnect: () => boolean;
}

/** Stands for the session being opened, which has no id yet. */
const FIRST_SESSION = Symbol('the session being opened');

/** Sends a request and waits for its answer, reconnecting if necessary. */
export async function exchange(
  context: ExchangeContext,
  request: BulkRequest,
  options: CallOptions,
): Promise<unknown> {
  const { method } = request;
  const { timeoutMs, signal, sameSession = isSessionBound(method) } = options;
  const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const session = context.isOpening ? FIRST_SESSION : context.sessionId;
  const assertSession = ({ sessionId }: Connection): void => {
    if (sameSession && session !== FIRST_SESSION && sessionId !== session)
      throw contactLost('its session is gone');
  };
  const mayRepeat = (error: unknown): boolean =>
    isExecError(error, 'connectionClosed') && context.willReconnect() && isRepeatable(method);
  for (;;) {
    const remaining = (): Deadline => ({
      timeoutMs: deadline === undefined ? undefined : Math.ceil(deadline - performance.now()),
      signal,
    });
    // Synchronous while connected, so that calls leave in the order they were made.
    const line =
      context.line.current ??
      (await awaitConnection(context.line.next(context.nextConnection()), method, remaining()));
    if ('sessionId' in line) assertSession(line);
    try {
      if ('sessionId' in line) return await sendRequest(line.peer, request, remaining());
      const outcome = await sendEarly(line, request, remaining());
      if (outcome.kind === 'answered') {
        assertSession(outcome.connection);
        return await outcome.answer;
      }
      if (outcome.kind === 'tooEarly') continue;
      const { error } = outcome;
      // The first attempt to connect reports why it failed.
      if (session === FIRST_SESSION) throw error;
      // After a refusal nothing was executed; otherwise the request may have been.
      if (!isRefusal(error) && !isRepeatable(method))
        throw new ExecError('connectionClosed', 'The connection ended in the handshake.', { cause: error });
    } catch (error) {
      if (!mayRepeat(error)) throw error;
    }
  }
}

/** Waits for a connection within the deadline of a call. */
export function awaitConnection<Value>(
  coming: Promise<Value>,
  method: string,
  deadline: Deadline,
): Promise<Value> {
  return withDeadline(coming, {
    ...deadline,
    what: method,
    late: () => new ExecError('requestTimeout', `No connection for ${method} in time.`),
  });
}
