import { resolve } from 'node:path';
import type { Command } from 'commander';
import { defaultChangesDirectory } from '../../environment/index.js';
import { DEFAULT_LIMITS } from '../../host/index.js';
import type { ExecServerOptions } from '../../server/index.js';
import { wholeNumber } from './listen-options.js';

export interface ChangesFlags {
  readonly changesDir?: string;
  readonly changesBytes: number;
  readonly changesFiles: number;
  readonly changesTotalBytes: number;
  readonly changesTotalFiles: number;
}

export function addChangesOptions(command: Command): Command {
  const { maxSetBytes, maxSetFiles, maxTotalBytes, maxTotalFiles } = DEFAULT_LIMITS;
  return command
    .optionsGroup('Storage:')
    .option(
      '--changes-dir <dir>',
      'where held changes are stored, or off (default: below the state directory)',
    )
    .option('--changes-bytes <n>', 'disk space for each set of held changes', wholeNumber, maxSetBytes)
    .option('--changes-files <n>', 'files in each set of held changes', wholeNumber, maxSetFiles)
    .option('--changes-total-bytes <n>', 'disk space for all sets together', wholeNumber, maxTotalBytes)
    .option('--changes-total-files <n>', 'files in all sets together', wholeNumber, maxTotalFiles)
    .optionsGroup('');
}

/** Without a directory if nothing is to be held. */
export function changesFromFlags(
  flags: ChangesFlags,
): Pick<ExecServerOptions, 'changesDirectory' | 'changesLimits'> {
  if (flags.changesDir === 'off') return {};
  const changesDirectory = resolve(flags.changesDir ?? defaultChangesDirectory());
  const changesLimits = {
    maxSetBytes: flags.changesBytes,
    maxSetFiles: flags.changesFiles,
    maxTotalBytes: flags.changesTotalBytes,
    maxTotalFiles: flags.changesTotalFiles,
  };
  return { changesDirectory, changesLimits };
}
