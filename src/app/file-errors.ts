import { type ErrorCode, ExecError, isExecError } from '../protocol/index.js';

/** What the system says about a file has one number here, where exec servers have several. */
const SYSTEM_ERRORS: readonly ErrorCode[] = ['notFound', 'permissionDenied'];

/** An error of a file system under the code this protocol has for it. The finer one stays in `data.reason`. */
export function asAppFileError(error: unknown, options: { refusesKinds: boolean }): unknown {
  if (!isExecError(error)) return error;
  const { code, message, data } = error;
  if (code === 'invalidParams' || code === 'invalidPath') {
    return new ExecError('invalidRequest', message, { cause: error });
  }
  if (SYSTEM_ERRORS.includes(code) || (code === 'invalidFile' && !options.refusesKinds)) {
    return new ExecError('ioFailed', message, { data: { ...data, reason: code }, cause: error });
  }
  return error;
}
