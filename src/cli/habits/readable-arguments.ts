import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';

/**
 * Arguments travel as text, and Node has already replaced what is none. A program must not be given something else than
 * what was typed, nor a copy be made of a file with another name.
 */
export function requireReadableArguments(words: readonly string[]): void {
  if (!words.some((word) => word.includes('\uFFFD'))) return;
  const typed = commandLine();
  if (typed !== undefined && !isUtf8(typed))
    throw new ExecError(
      'invalidConfiguration',
      'An argument is not UTF-8, and would arrive as something else. Give such bytes on stdin or in a file.',
    );
}

function commandLine(): Buffer | undefined {
  try {
    return readFileSync('/proc/self/cmdline');
  } catch {
    // Not Linux: nobody knows.
    return undefined;
  }
}
