import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';
import { printable } from '../terminal/table.js';
import { withServer } from '../commands/processes.js';
import type { Completion } from './completion-candidates.js';
import { inTime } from './in-time.js';

/** Enough of a process to complete its id and to recognize it. */
interface Candidate {
  readonly processId: string;
  readonly argv: readonly string[];
}

/** The kept processes of a server. */
export async function keptIds(target: TargetFlags): Promise<Completion> {
  return complete(await inTime(listKept(target)));
}

/** All processes running on a server, except those that have been typed already. */
export async function runningIds(target: TargetFlags, typed: readonly string[]): Promise<Completion> {
  const rows = await inTime(withServer(target, (server) => server.listServer()));
  return complete(rows.filter(({ closed, processId }) => !closed && !typed.includes(processId)));
}

async function listKept(target: TargetFlags): Promise<readonly Candidate[]> {
  const environment = await openTarget(target);
  try {
    return await environment.kept();
  } finally {
    await closeTarget(environment);
  }
}

function complete(processes: readonly Candidate[]): Completion {
  const candidates = processes
    .filter(({ processId }) => processId === printable(processId))
    .map(({ processId, argv }) => ({ word: processId, text: printable(argv.join(' ')) }));
  return { candidates, fallback: 'words' };
}
