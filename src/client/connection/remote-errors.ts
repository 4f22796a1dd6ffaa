import { ExecError, isExecError } from '../../protocol/index.js';

/** The number other servers use for almost everything a client gets wrong. */
const INVALID_REQUEST = -32600;

/** An error answer in which only the number tells what happened. */
function hasNumber(error: unknown, rpcCode: number): boolean {
  return isExecError(error, 'remoteError') && error.data.rpcCode === rpcCode;
}

/** What other servers answer before the handshake, and to much else. */
export function isInvalidRequest(error: unknown): boolean {
  return hasNumber(error, INVALID_REQUEST);
}

/** The answer to a resume whose session is gone. Other servers say it by number alone. */
export function isUnknownSession(error: unknown): boolean {
  return isExecError(error, 'sessionNotFound') || hasNumber(error, INVALID_REQUEST);
}

/** The answer to a read of a process the server does not have. */
export function isUnknownProcess(error: unknown): boolean {
  return isExecError(error, 'processNotFound') || hasNumber(error, INVALID_REQUEST);
}

export function contactLost(why: string, cause?: unknown): ExecError {
  return new ExecError('contactLost', `Contact to the process is lost: ${why}.`, { cause });
}

export function unsupported(what: string): ExecError {
  return new ExecError('unsupported', `This server does not offer ${what}.`);
}
