import type { RemoteEnvironment } from '../../client/index.js';
import { ExecError } from '../../protocol/errors.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** Opens a server for one task, which begins as soon as requests can be sent. Throws if the target is not a server. */
export async function withServer<Value>(
  flags: TargetFlags,
  task: (server: RemoteEnvironment) => Promise<Value>,
): Promise<Value> {
  const { RemoteEnvironment } = await import('../../client/index.js');
  let begun: Promise<Value> | undefined;
  const environment = await openTarget(flags, {
    onOpening: (opening) => {
      if (opening instanceof RemoteEnvironment) begun = task(opening);
      // If connecting fails, that is what went wrong.
      begun?.catch(() => undefined);
    },
  });
  try {
    if (environment instanceof RemoteEnvironment) return await (begun ?? task(environment));
    throw new ExecError(
      'unsupported',
      'Processes of the local environment end with the program that started them. ' +
        'Name a server, such as one started with `execwire serve`: -e ws://…',
    );
  } finally {
    await closeTarget(environment);
  }
}
