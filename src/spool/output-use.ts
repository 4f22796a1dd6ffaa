import type { LogArchive, TerminalSize } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import type { Spool } from './spool.js';

/** How the output of a process is kept. */
export interface OutputUse {
  readonly retain?: 'memory' | 'disk' | null | undefined;
  readonly onSlowReader?: 'wait' | 'spool' | null | undefined;
}

interface SpooledProcess {
  readonly owner: string;
  readonly argv: readonly string[];
  readonly terminal: TerminalSize | null;
}

/** The log options for a use of the output; none if it stays in memory. Throws `spoolUnavailable`. */
export function outputUse(
  spool: Spool | null,
  { owner, argv, terminal: size }: SpooledProcess,
  { retain, onSlowReader }: OutputUse,
): { archive?: (processId: string) => LogArchive; spills?: boolean } {
  const [keep, spills] = [retain === 'disk', onSlowReader === 'spool'];
  if (!keep && !spills) return {};
  if (!spool)
    throw new ExecError(
      'spoolUnavailable',
      'No output is kept on disk here. Serve with --spool DIR for that.',
    );
  spool.prepareOnce();
  const request = { owner, program: argv[0] ?? '', size, keep };
  return { archive: (processId) => spool.create({ ...request, processId }), spills };
}
