import { Command } from 'commander';
import type { ServerProcess } from '../../client/index.js';
import { ExecError } from '../../protocol/errors.js';
import { parseDuration } from '../options/option-values.js';
import { withServer } from './processes.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

interface KillFlags extends TargetFlags {
  readonly session?: string;
  readonly grace?: number;
}

/** `execwire kill`: ends processes on a server. */
export function killCommand(): Command {
  return withTarget(new Command('kill'))
    .summary('end processes on a server')
    .description('End processes on a server, and everything they started.')
    .argument(
      '<id...>',
      'process ids, as shown by `execwire ps`; for kept processes, their beginning is enough',
    )
    .option('--session <id>', 'only in this session; a prefix of its id is enough')
    .option('--grace <time>', 'send SIGTERM first and kill after this time: 500ms, 5s', parseDuration)
    .action(kill);
}

async function kill(ids: string[], flags: KillFlags): Promise<void> {
  await withServer(flags, async (server) => {
    const running = (await server.listServer()).filter(({ closed }) => !closed);
    // Finds all before killing any: a mistake in the list must change nothing.
    for (const { processId, sessionId } of ids.map((id) => findProcess(running, id, flags.session))) {
      const grace = flags.grace === undefined ? {} : { graceMs: flags.grace };
      await server.terminateOnServer({ processId, sessionId, ...grace });
    }
  });
}

function findProcess(rows: readonly ServerProcess[], id: string, session = ''): ServerProcess {
  const inSession = rows.filter(({ sessionId }) => sessionId.startsWith(session));
  const exact = inSession.filter(({ processId }) => processId === id);
  // Ids of kept processes are typed by people: their beginning is enough.
  const begun = inSession.filter((row) => row.lease !== undefined && row.processId.startsWith(id));
  const [found, another] = exact.length > 0 ? exact : begun;
  if (!found)
    throw new ExecError('processNotFound', `No process "${id.slice(0, 64)}" is running on that server.`);
  if (another) {
    throw new ExecError(
      'processNotFound',
      exact.length > 0
        ? `Several sessions have a process "${id.slice(0, 64)}"; choose with --session.`
        : `Several kept processes begin with "${id.slice(0, 64)}"; type more of the id.`,
    );
  }
  return found;
}
