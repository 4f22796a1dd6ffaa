import { isAbsolute, join } from 'node:path';
import type { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import { homeDirectory } from '../../protocol/home-directory.js';
import { DEFAULT_PROCESS_BYTES, DEFAULT_TOTAL_BYTES, type SpoolOptions } from '../../spool/index.js';
import { wholeNumber } from './listen-options.js';

export interface SpoolFlags {
  readonly spool?: string;
  readonly spoolBytes: number;
  readonly spoolTotalBytes: number;
}

export function addSpoolOptions(command: Command): Command {
  return command
    .option(
      '--spool <dir>',
      'where output goes that clients want kept on disk, or off (default: below the state directory)',
    )
    .option('--spool-bytes <n>', 'output kept on disk per process', wholeNumber, DEFAULT_PROCESS_BYTES)
    .option('--spool-total-bytes <n>', 'output kept on disk in total', wholeNumber, DEFAULT_TOTAL_BYTES);
}

/** Undefined if nothing is to be kept on disk. */
export function spoolFromFlags(flags: SpoolFlags & { readonly durable?: string }): SpoolOptions | undefined {
  if (flags.spool === 'off') return undefined;
  const durable = flags.durable === undefined ? undefined : join(flags.durable, 'spool');
  const directory = flags.spool ?? durable ?? defaultSpool(process.env);
  if (!isAbsolute(directory))
    throw new ExecError('invalidConfiguration', '--spool takes an absolute path, or off.');
  return { directory, processBytes: flags.spoolBytes, totalBytes: flags.spoolTotalBytes };
}

function defaultSpool({ XDG_STATE_HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_STATE_HOME || join(homeDirectory(), '.local', 'state'), 'execwire', 'spool');
}
