import { ExecError, isExecError } from '../../protocol/index.js';

/** Codex uses this number for almost every client error. */
const INVALID_REQUEST = -32600;

/** Whether the error carries this JSON-RPC number and no code of ours. */
function hasNumber(error: unknown, rpcCode: number): boolean {
  return isExecError(error, 'remoteError') && error.data.rpcCode === rpcCode;
}

/** What other servers answer before the handshake, and in many other cases. */
export function isInvalidRequest(error: unknown): boolean {
  return hasNumber(error, INVALID_REQUEST);
}

/** The answer to resuming a session that is gone. Other servers send only the number. */
export function isUnknownSession(error: unknown): boolean {
  return isExecError(error, 'sessionNotFound') || hasNumber(error, INVALID_REQUEST);
}

/** The answer to reading a process the server does not know. */
export function isUnknownProcess(error: unknown): boolean {
  return isExecError(error, 'processNotFound') || hasNumber(error, INVALID_REQUEST);
}

export function contactLost(why: string, cause?: unknown): ExecError {
  return new ExecError('contactLost', `Contact with the process was lost: ${why}.`, { cause });
}

export function unsupported(what: string): ExecError {
  return new ExecError('unsupported', `This server does not offer ${what}.`);
}
