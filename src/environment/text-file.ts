import { readFileSync } from 'node:fs';
import { ExecError } from '../protocol/errors.js';
import { whyUnreadable } from '../protocol/file-failure.js';

/** Reads a file named by the user: a configuration, a token. An error says which file and why, never what it contains. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = whyUnreadable(cause) ?? 'it failed';
    throw new ExecError('invalidConfiguration', `Cannot read ${path}: ${reason}.`, { data: { path }, cause });
  }
}
