import { isAbsolute } from 'node:path';
import type { Command } from 'commander';
import { defaultChangesDirectory } from '../../environment/index.js';
import { ExecError } from '../../protocol/errors.js';

export interface ChangesFlags {
  readonly changesDir?: string;
}

export function addChangesOptions(command: Command): Command {
  return command.option(
    '--changes-dir <dir>',
    'where changes are held that policies hold, or off (default: below the state directory)',
  );
}

/** Undefined if nothing is to be held. */
export function changesFromFlags({ changesDir }: ChangesFlags): string | undefined {
  if (changesDir === 'off') return undefined;
  const directory = changesDir ?? defaultChangesDirectory();
  if (!isAbsolute(directory))
    throw new ExecError('invalidConfiguration', '--changes-dir takes an absolute path, or off.');
  return directory;
}
