import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { homeDirectory } from '../../protocol/home-directory.js';
import {
  DEFAULT_PROCESS_BYTES,
  DEFAULT_TOTAL_BYTES,
  requirePrivateDirectory,
  type SpoolOptions,
} from '../../spool/index.js';
import { wholeNumber } from './listen-options.js';

export interface SpoolFlags {
  readonly spool?: string;
  readonly spoolBytes: number;
  readonly spoolTotalBytes: number;
}

export function addSpoolOptions(command: Command): Command {
  return command
    .optionsGroup('Storage:')
    .option(
      '--spool <dir>',
      'where output kept on disk is stored, or off (default: below the state directory)',
    )
    .option(
      '--spool-bytes <n>',
      'disk space for the output of each process',
      wholeNumber,
      DEFAULT_PROCESS_BYTES,
    )
    .option('--spool-total-bytes <n>', 'disk space for all output together', wholeNumber, DEFAULT_TOTAL_BYTES)
    .optionsGroup('');
}

/** Undefined if nothing is to be kept on disk. */
export function spoolFromFlags(flags: SpoolFlags & { readonly durable?: string }): SpoolOptions | undefined {
  if (flags.spool === 'off') return undefined;
  const durable = flags.durable === undefined ? undefined : join(flags.durable, 'spool');
  const directory = resolve(flags.spool ?? durable ?? defaultSpool(process.env));
  // One that was named and cannot be used is found out now rather than by the first program that needs it.
  if (flags.spool !== undefined) requirePrivateDirectory(directory);
  return { directory, processBytes: flags.spoolBytes, totalBytes: flags.spoolTotalBytes };
}

function defaultSpool({ XDG_STATE_HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_STATE_HOME || join(homeDirectory(), '.local', 'state'), 'execwire', 'spool');
}
