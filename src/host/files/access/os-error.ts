import { getSystemErrorMap } from 'node:util';
import { ExecError, isExecError } from '../../../protocol/errors.js';

/** The system's texts for these errors. Clients show them to people and models, so they follow Codex's. */
const osText: Readonly<Record<string, string>> = {
  E2BIG: 'Argument list too long',
  EACCES: 'Permission denied',
  EAGAIN: 'Resource temporarily unavailable',
  EBADF: 'Bad file descriptor',
  EBUSY: 'Resource busy',
  EDQUOT: 'Quota exceeded',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EIO: 'I/O error',
  EISDIR: 'Is a directory',
  ELOOP: 'Symbolic link loop',
  EMFILE: 'No file descriptors available',
  EMLINK: 'Too many links',
  ENAMETOOLONG: 'Filename too long',
  ENFILE: 'Too many open files in system',
  ENODEV: 'No such device',
  ENOENT: 'No such file or directory',
  ENOMEM: 'Out of memory',
  ENOSPC: 'No space left on device',
  ENOSYS: 'Function not implemented',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ETXTBSY: 'Text file busy',
  EXDEV: 'Cross-device link',
};

const errnoOf = new Map([...getSystemErrorMap()].map(([errno, [name]]) => [name, -errno]));

/** True for errors of the operating system rather than ours. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** True if the operating system returned this code, e.g. `ENOENT`. */
export function hasOsCode(error: unknown, ...codes: readonly string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}

/** The operating system's text for an error, e.g. `No such file or directory (os error 2)`. */
function osMessage(code: string): string {
  const errno = errnoOf.get(code);
  const text = osText[code] ?? getSystemErrorMap().get(-(errno ?? 0))?.[1] ?? code;
  return errno === undefined ? text : `${text} (os error ${errno})`;
}

/** An error as if the operating system had returned this code. */
export function osError(code: string, cause?: unknown): ExecError {
  const data = { osCode: code };
  if (code === 'ENOENT') return new ExecError('notFound', osMessage(code), { data, cause });
  if (code === 'EACCES' || code === 'EPERM')
    return new ExecError('permissionDenied', osMessage(code), { data, cause });
  return new ExecError('ioFailed', osMessage(code), { data, cause });
}

/** Turns what a file operation threw into the error callers see. */
export function asExecError(error: unknown): Error {
  if (isExecError(error)) return error;
  if (isSystemError(error)) return osError(error.code, error);
  return error instanceof Error ? error : new Error(String(error));
}
