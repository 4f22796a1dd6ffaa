import { ExecError, isExecError } from '../../protocol/errors.js';

/**
 * The error a caller sees for a failed request. The library's own message may contain header values and is left out.
 */
export function httpFailure(error: unknown): Error {
  if (isExecError(error)) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG')
    return new ExecError('invalidParams', 'http/request has a header or method that cannot be sent', {
      cause: error,
    });
  return new ExecError('httpFailed', `http/request failed: ${reasons[code] ?? code}`, { cause: error });
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'unknown';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EAI_AGAIN: 'host name could not be looked up',
  ENOTFOUND: 'host not found',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection closed before the answer was complete',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'content-length does not fit the body',
  unknown: 'the request could not be made',
};
