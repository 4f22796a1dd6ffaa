import { join } from 'node:path';
import { type KeeperFacts, KEEPER_VERSION, type KeeperLink, type Predecessor } from '../../keeper/index.js';
import { ExecError } from '../../protocol/errors.js';
import { checkState } from '../../server/durable/check-state.js';
import type { ServeOptions } from '../../server/index.js';

type Succession = NonNullable<ServeOptions['durable']>['succession'];

/** More than any command line has; what is longer does not fit into a message to the keeper. */
const MAX_COMMAND_BYTES = 32 * 1024;

/** Throws unless this server could take the place of the one that runs. Changes nothing. */
export function requireFit(own: Predecessor, { predecessor, keeperVersion }: KeeperFacts): void {
  if (keeperVersion > KEEPER_VERSION)
    throw new ExecError('invalidConfiguration', 'its keeper is of a newer release; restart that instead');
  if (own.directory !== predecessor?.directory)
    throw new ExecError('invalidConfiguration', '--durable names another directory');
  if (JSON.stringify(own.listen) !== JSON.stringify(predecessor.listen))
    throw new ExecError('invalidConfiguration', '--listen differs from the addresses of the running server');
  checkState(join(own.directory, 'journal'));
}

/** How this server is replaced. */
export function successionOf(keeper: KeeperLink, own: Predecessor): Succession {
  const { generation, failedUpgrade } = keeper.facts;
  return {
    generation,
    failedUpgrade,
    prepare: async (request) => {
      const argv = commandOf(request);
      if (Buffer.byteLength(JSON.stringify(argv)) > MAX_COMMAND_BYTES)
        return { reason: 'its command line is too long' };
      return await keeper.prepareSuccessor(argv, own);
    },
    dismiss: () => keeper.dismissSuccessor(),
    leave: () => keeper.leave(),
  };
}

/** The command line of this process, with other arguments or another program. */
function commandOf(request: Parameters<Succession['prepare']>[0]): string[] {
  const [script = '', command = 'serve', ...own] = process.argv.slice(1);
  const { program = script, arguments: line = own } = request;
  return [process.execPath, ...process.execArgv, program, command, ...line];
}
