import { Command } from 'commander';
import type { ServerProcess } from '../../client/index.js';
import { onMachine, withMachine } from '../habits/machine-argument.js';
import { withServer } from './processes.js';
import { formatJson, formatTable } from '../terminal/table.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** Enough of a session id to tell sessions apart; `kill --session` accepts it too. */
const SHORT_SESSION_CHARS = 8;

/** `execwire ps`: lists the processes of a server. */
export function psCommand(): Command {
  return withMachine(withTarget(new Command('ps')))
    .summary('list the processes of a server')
    .description(
      'List the processes of all sessions of a server, including finished ones while they are retained.\n\n' +
        'Processes of other clients are shown without their arguments.',
    )
    .option('--json', 'print JSON')
    .action(ps);
}

async function ps(machine: string | undefined, given: TargetFlags & { json?: boolean }): Promise<void> {
  const flags = onMachine(machine, given);
  const rows = await withServer(flags, (server) => server.listServer());
  const now = Date.now();
  process.stdout.write(
    flags.json
      ? formatJson(rows)
      : formatTable(
          ['ID', 'SESSION', 'PID', 'AGE', 'STATE', 'COMMAND'],
          rows.map((row) => [
            row.processId,
            row.sessionId.slice(0, SHORT_SESSION_CHARS),
            row.pid === null ? '-' : String(row.pid),
            formatAge(now - row.startedAtMs),
            stateOf(row),
            row.argv.join(' '),
          ]),
        ),
  );
}

function stateOf({
  exited,
  exitCode,
  closed,
  tty,
  lease,
  attached = 0,
  details: known,
}: ServerProcess): string {
  if (!exited) {
    const input = known?.waitsForInput ? ', waits for input' : '';
    const details = [tty ? ', tty' : '', input, lease === undefined ? '' : `, ${leaseText(lease)}`];
    return `running${details.join('')}${attached > 0 ? `, ${attached} attached` : ''}`;
  }
  return closed ? `exited ${exitCode ?? '?'}` : `exited ${exitCode ?? '?'}, output open`;
}

function leaseText(lease: NonNullable<ServerProcess['lease']>): string {
  return typeof lease === 'number' ? `lease ${formatAge(lease)}` : lease;
}

function formatAge(ms: number): string {
  // The clocks of the two machines may disagree.
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h${minutes % 60}m` : `${Math.floor(hours / 24)}d${hours % 24}h`;
}
