import { type ErrorCode, ExecError, errorCatalogue } from '../protocol/errors.js';
import type { RpcErrorObject } from './message.js';

/** Turns an error answer into an ExecError, with its own code if the other side sent one we know. */
export function errorFromWire(error: RpcErrorObject): ExecError {
  const data = typeof error.data === 'object' && error.data !== null ? { ...error.data } : {};
  const named: unknown = Reflect.get(data, 'code');
  const code = isWireCode(named, error.code) ? named : guessCode(error.code);
  return new ExecError(code, error.message, { data: { ...data, rpcCode: error.code } });
}

function isWireCode(code: unknown, rpc: number): code is ErrorCode {
  return (
    typeof code === 'string' &&
    Object.hasOwn(errorCatalogue, code) &&
    errorCatalogue[code as ErrorCode].rpc === rpc
  );
}

/** Other servers send only numbers, and these four are unambiguous. */
function guessCode(rpc: number): ErrorCode {
  if (rpc === -32004) return 'notFound';
  if (rpc === -32010) return 'sessionBusy';
  if (rpc === -32601) return 'methodNotFound';
  if (rpc === -32602) return 'invalidParams';
  return 'remoteError';
}
