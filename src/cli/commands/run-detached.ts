import { ConfinedEnvironment, type ProcessSpec } from '../../contract/index.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';
import type { AttachedStart } from './run-attached.js';
import { requireServer, retention } from './kept.js';

/** Starts a process that continues without us, and prints its id. */
export async function runDetached(
  target: TargetFlags,
  { spec, sandbox }: AttachedStart,
  lease: ProcessSpec['lease'] = 'kept',
): Promise<void> {
  const environment = await openTarget(target);
  try {
    const server = await requireServer(environment);
    const wanted = { ...(await spec(server)), ...retention(server), lease };
    const policy = await sandbox(server, wanted);
    const child = await (policy ? new ConfinedEnvironment(server, policy) : server).start(wanted);
    process.stdout.write(`${child.processId}\n`);
  } finally {
    await closeTarget(environment);
  }
}
