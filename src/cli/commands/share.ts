import { Command } from 'commander';
import type { RemoteEnvironment } from '../../client/index.js';
import { ExecError } from '../../protocol/errors.js';
import { parseDuration } from '../options/option-values.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import { durationOf } from '../terminal/quantities.js';
import { printable, formatTable } from '../terminal/table.js';
import { findKept } from './kept.js';
import { withServer } from './processes.js';

interface ShareFlags extends TargetFlags {
  readonly for?: number;
  readonly list?: boolean;
  readonly revoke?: string;
}

/** `execwire share`: lets another person watch a kept process. */
export function shareCommand(): Command {
  return withTarget(new Command('share'))
    .summary('let somebody else watch a kept process')
    .description(
      'Print a token with which somebody else may watch a kept process, and do nothing else on that server. How to use ' +
        'it is printed to stderr.\n\n' +
        'The server keeps only a hash of it. It is valid until it expires or is revoked, or the process is forgotten.',
    )
    .argument('[id]', 'the id that was printed, or its beginning')
    .option('--for <time>', 'how long it is valid, such as 30m or 2h (default: a day)', parseDuration)
    .option('--list', 'list all shares')
    .option('--revoke <share>', 'revoke a share, and disconnect whoever is watching')
    .action(share);
}

async function share(id: string | undefined, flags: ShareFlags): Promise<void> {
  if ([id, flags.list, flags.revoke].filter((each) => each !== undefined).length !== 1)
    throw new ExecError('invalidConfiguration', 'Name a process to share, or use --list or --revoke SHARE.');
  await withServer(flags, async (server) => {
    if (id !== undefined) await create(server, id, flags);
    else if (flags.revoke === undefined) await list(server);
    else if (!(await server.revokeShare(flags.revoke)))
      throw new ExecError(
        'notFound',
        `There is no share "${flags.revoke.slice(0, 64)}". List them with --list.`,
      );
  });
}

async function create(server: RemoteEnvironment, id: string, flags: ShareFlags): Promise<void> {
  const { processId } = findKept(await server.kept(), id);
  const { token, shareId, expiresInMs } = await server.share(
    processId,
    flags.for === undefined ? {} : { forMs: flags.for },
  );
  const target = flags.environment === undefined ? '' : ` -e ${flags.environment}`;
  process.stderr.write(
    `execwire: valid for ${durationOf(expiresInMs / 1000)}; end it with: execwire share${printable(target)} --revoke ${shareId}\n` +
      'execwire: whoever has this token in a file watches with: ' +
      `execwire watch${printable(target)} --token-file FILE ${printable(processId)}\n`,
  );
  process.stdout.write(`${token}\n`);
}

async function list(server: RemoteEnvironment): Promise<void> {
  const rows = (await server.shares()).map(({ shareId, processId, expiresInMs }) => [
    shareId,
    printable(processId),
    durationOf(expiresInMs / 1000),
  ]);
  process.stdout.write(formatTable(['share', 'process', 'left'], rows));
}
