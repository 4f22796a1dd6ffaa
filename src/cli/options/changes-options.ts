import { isAbsolute } from 'node:path';
import type { Command } from 'commander';
import { defaultChangesDirectory } from '../../environment/index.js';
import { DEFAULT_LIMITS } from '../../host/index.js';
import { ExecError } from '../../protocol/errors.js';
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
    .option(
      '--changes-dir <dir>',
      'where changes are held that policies hold, or off (default: below the state directory)',
    )
    .option('--changes-bytes <n>', 'held changes on disk per set', wholeNumber, maxSetBytes)
    .option('--changes-files <n>', 'held files per set', wholeNumber, maxSetFiles)
    .option('--changes-total-bytes <n>', 'held changes on disk in total', wholeNumber, maxTotalBytes)
    .option('--changes-total-files <n>', 'held files in total', wholeNumber, maxTotalFiles);
}

/** Without a directory if nothing is to be held. */
export function changesFromFlags(
  flags: ChangesFlags,
): Pick<ExecServerOptions, 'changesDirectory' | 'changesLimits'> {
  if (flags.changesDir === 'off') return {};
  const changesDirectory = flags.changesDir ?? defaultChangesDirectory();
  if (!isAbsolute(changesDirectory))
    throw new ExecError('invalidConfiguration', '--changes-dir takes an absolute path, or off.');
  const changesLimits = {
    maxSetBytes: flags.changesBytes,
    maxSetFiles: flags.changesFiles,
    maxTotalBytes: flags.changesTotalBytes,
    maxTotalFiles: flags.changesTotalFiles,
  };
  return { changesDirectory, changesLimits };
}
