import { Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import type { RemoteEnvironment, ServerStatus } from '../../client/index.js';
import { ExecError } from '../../protocol/errors.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import { withServer } from './processes.js';

/** How long the new server may take to answer. It is ready already, so that this only ends a wait without end. */
const ANSWER_LIMIT_MS = 30_000;
const POLL_MS = 10;

interface UpgradeFlags extends TargetFlags {
  readonly program?: string;
  readonly dryRun?: boolean;
}

/** `execwire upgrade`: replaces a running server. */
export function upgradeCommand(): Command {
  return withTarget(new Command('upgrade'))
    .summary('replace a running server; its programs keep running')
    .description(
      'Replace a server that was started with --durable by the version that is installed now, or by one with other ' +
        'options: give all options of the new server after --. Programs, sessions, leases and listeners continue.\n\n' +
        'The new server is started beside the old one first. If it cannot take over, nothing changes.',
    )
    .argument('[options...]', 'options for `serve`, after -- (default: those of the running server)')
    .option('--program <file>', 'absolute path of the execwire to run (default: that of the running server)')
    .option('--dry-run', 'only find out whether it would work')
    .action(upgrade);
}

async function upgrade(line: string[], flags: UpgradeFlags): Promise<void> {
  const request = {
    ...(line.length === 0 ? {} : { arguments: line }),
    ...(flags.program === undefined ? {} : { program: flags.program }),
    dryRun: flags.dryRun ?? false,
  };
  const said = await withServer(flags, async (server) => {
    const before = await server.serverStatus();
    const { generation } = await server.upgrade(request);
    if (request.dryRun) return 'The new server could take over. Nothing was changed.';
    return outcome(before, await statusOf(server, generation), generation);
  });
  process.stdout.write(`${said}\n`);
}

function outcome(before: ServerStatus, after: ServerStatus, generation: number): string {
  if (after.generation !== generation)
    throw new ExecError(
      'upgradeRefused',
      `The upgrade failed: ${after.failedUpgrade ?? 'the new server died'}. The previous server was restarted.`,
    );
  const versions = before.version === after.version ? after.version : `${before.version} -> ${after.version}`;
  return `Upgraded: ${versions}, server ${after.generation}.`;
}

/** What the server says that took over, or the one that had to be started instead. */
async function statusOf(server: RemoteEnvironment, generation: number): Promise<ServerStatus> {
  const deadline = performance.now() + ANSWER_LIMIT_MS;
  for (;;) {
    const status = await server.serverStatus();
    if (status.generation >= generation) return status;
    if (performance.now() > deadline)
      throw new ExecError('requestTimeout', 'The new server does not answer. See the log of the server.');
    await pause(POLL_MS);
  }
}
