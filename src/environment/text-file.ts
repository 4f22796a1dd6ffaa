import { readFileSync } from 'node:fs';
import { ExecError } from '../protocol/errors.js';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
  ENOENT: 'it does not exist',
};

/** Reads a file named by the user: a configuration, a token. An error says which file and why, never what it contains. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code] ?? (code || 'it failed');
    throw new ExecError('invalidConfiguration', `Cannot read ${path}: ${reason}.`, { data: { path }, cause });
  }
}
