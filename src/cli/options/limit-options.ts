import { type Command, InvalidArgumentError } from 'commander';
import type { ProcessLimits } from '../../protocol/index.js';
import { wholeNumber } from './listen-options.js';
import { parseDuration } from './option-values.js';

/** The flags that bound what each process of a command may use. */
export interface LimitFlags {
  readonly memory?: number;
  readonly cpu?: number;
  readonly nofile?: number;
}

/** Adds the options that limit each process of a command. */
export function withLimits(command: Command): Command {
  return command
    .optionsGroup('Limits:')
    .option('--memory <size>', 'let each of its processes allocate at most this much: 512M, 2G', parseSize)
    .option('--cpu <time>', 'end each of its processes after this much CPU time: 30s, 2m', parseDuration)
    .option('--nofile <n>', 'let each of its processes open at most this many files', wholeNumber)
    .optionsGroup('');
}

/** The limits of the flags; undefined without any. */
export function limitsFrom({ memory, cpu, nofile }: LimitFlags): ProcessLimits | undefined {
  if (memory === undefined && cpu === undefined && nofile === undefined) return undefined;
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    // The kernel counts whole seconds.
    ...(cpu === undefined ? {} : { cpuSeconds: Math.ceil(cpu / 1000) }),
    ...(nofile === undefined ? {} : { openFiles: nofile }),
  };
}

const UNITS = 'KMGT';

/** `512M`, `2G`, `1.5GiB`; a bare number is bytes. Units are powers of 1024, as with `ulimit` and containers. */
function parseSize(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([KMGT])?(?:i?B)?$/i.exec(text) ?? [];
  const bytes = Math.round(
    Number(amount) * 1024 ** (unit === '' ? 0 : UNITS.indexOf(unit.toUpperCase()) + 1),
  );
  if (!Number.isSafeInteger(bytes) || bytes <= 0)
    throw new InvalidArgumentError('Use a size such as 512M or 2G.');
  return bytes;
}
