import { type ErrorCode, ExecError, errorCatalogue } from '../protocol/errors.js';
import type { RpcErrorObject } from './message.js';

/** An error answer as an ExecError: under its own code if the other side is one of us. */
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

/** Other servers send numbers alone; three of them mean one thing only. */
function guessCode(rpc: number): ErrorCode {
  if (rpc === -32004) return 'notFound';
  if (rpc === -32010) return 'sessionBusy';
  if (rpc === -32601) return 'methodNotFound';
  if (rpc === -32602) return 'invalidParams';
  return 'remoteError';
}
