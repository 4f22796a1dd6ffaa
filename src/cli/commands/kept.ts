import type { RemoteEnvironment, ServerProcess } from '../../client/index.js';
import type { Environment } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { type TargetFlags, targetWords } from '../options/target-options.js';

/** For commands about kept processes: the target as a server, or an error that says how to get one. */
export async function requireServer(environment: Environment): Promise<RemoteEnvironment> {
  const { RemoteEnvironment } = await import('../../client/index.js');
  if (environment instanceof RemoteEnvironment) return environment;
  throw new ExecError(
    'unsupported',
    'Nothing outlives its client here. Start a server with `execwire serve` and name it: -e ws://…',
  );
}

/** What outlives its client keeps all its output, where the server has a place for it. */
export function retention({ client }: RemoteEnvironment): { retain?: 'disk' } {
  return client.serverCapabilities.spool ? { retain: 'disk' } : {};
}

/** The kept process with this id, or the only one whose id begins with it. */
export function findKept<Row extends ServerProcess>(rows: readonly Row[], id: string): Row {
  const shown = id.slice(0, 64);
  const exact = rows.find(({ processId }) => processId === id);
  const [found, another] = exact ? [exact] : rows.filter(({ processId }) => processId.startsWith(id));
  if (!found) throw new ExecError('processNotFound', `No kept process "${shown}" is known on that server.`);
  if (another)
    throw new ExecError(
      'processNotFound',
      `Several kept processes begin with "${shown}"; type more of the id.`,
    );
  return found;
}

/** The command that leads back to a kept process. */
export function wayBack(processId: string, target: TargetFlags): string {
  return `execwire attach ${targetWords(target)}${processId}`;
}
