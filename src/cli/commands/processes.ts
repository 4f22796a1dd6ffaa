import type { RemoteEnvironment } from '../../client/index.js';
import { ExecError } from '../../protocol/errors.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** Opens a server for one task. Throws if the target is not a server. */
export async function withServer<Value>(
  flags: TargetFlags,
  task: (server: RemoteEnvironment) => Promise<Value>,
): Promise<Value> {
  const environment = await openTarget(flags);
  try {
    const { RemoteEnvironment } = await import('../../client/index.js');
    if (environment instanceof RemoteEnvironment) return await task(environment);
    throw new ExecError(
      'unsupported',
      'Processes of the local environment end with the program that started them. Name a server: -e ws://…',
    );
  } finally {
    await closeTarget(environment);
  }
}
