import { type ErrorCode, ExecError, isExecError } from '../protocol/index.js';

/** System errors about files share one error number here; exec servers have several. */
const SYSTEM_ERRORS: readonly ErrorCode[] = ['notFound', 'permissionDenied'];

/** Maps a file system error to this protocol's code. The more specific code stays in `data.reason`. */
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
