import { once } from 'node:events';
import type { JobResult } from '../../fleet/index.js';
import { complain, exitCodeOfEnd, OUR_FAILURE } from '../exit-codes.js';
import { outcomeText } from '../terminal/outcome-text.js';
import { printable } from '../terminal/table.js';
import { withFleet } from './fleet-connection.js';

/** Prints what a job has printed. */
export async function printJob(
  id: string,
  { follow = false, attempt }: { follow?: boolean; attempt?: number },
): Promise<void> {
  await withFleet(async (fleet) => {
    const jobs = await fleet.jobs();
    for await (const piece of jobs.output(id, { follow, ...(attempt === undefined ? {} : { attempt }) })) {
      if (piece.type === 'gap') {
        process.stderr.write(`execwire: ${piece.lostBytes} bytes of output are missing here\n`);
        continue;
      }
      const out = piece.stream === 'stderr' ? process.stderr : process.stdout;
      if (!out.write(piece.bytes)) await once(out, 'drain');
    }
  });
}

/** Waits for jobs. Exits as the last of those that did not succeed. */
export async function waitForJobs(ids: readonly string[]): Promise<void> {
  let exitCode = 0;
  try {
    await withFleet(async (fleet) => {
      const jobs = await fleet.jobs();
      const waiting = ids.map(async (id) => await jobs.wait(id));
      for (const { id, result } of await Promise.all(waiting)) {
        if (!result) continue;
        process.stderr.write(`${printable(id)} ${outcomeText(result)}\n`);
        exitCode = exitCodeOf(result) || exitCode;
      }
    });
  } catch (error) {
    // It must not look like the end of a program.
    complain(error);
    exitCode = OUR_FAILURE;
  }
  process.exitCode = exitCode;
}

/** A job without an end of its program is our failure. */
function exitCodeOf(result: JobResult): number {
  switch (result.kind) {
    case 'exited':
    case 'signalled':
    case 'timedOut':
      return exitCodeOfEnd(result);
    default:
      return OUR_FAILURE;
  }
}
