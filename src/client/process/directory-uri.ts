import { ExecError } from '../../protocol/index.js';

/** Turns an absolute POSIX or Windows path into a `file:` URI. URIs are returned unchanged. */
export function directoryUri(path: string): string {
  if (/^file:/i.test(path)) return path;
  const windows = /^[A-Za-z]:[\\/]/.test(path);
  if (!windows && !path.startsWith('/')) {
    throw new ExecError('invalidPath', 'The working directory must be an absolute path or a file: URI.');
  }
  try {
    const names = (windows ? `/${path.replaceAll('\\', '/')}` : path).split('/');
    return `file://${names.map((name) => encodeURIComponent(name).replace(/^([A-Za-z])%3A$/, '$1:')).join('/')}`;
  } catch (cause) {
    throw new ExecError('invalidPath', 'The working directory is not valid Unicode.', { cause });
  }
}
