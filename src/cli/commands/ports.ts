import { Command } from 'commander';
import type { ListeningPort } from '../../contract/index.js';
import { withServer } from './processes.js';
import { formatJson, formatTable } from '../terminal/table.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** `execwire ports`: lists the programs that listen on ports. */
export function portsCommand(): Command {
  return withTarget(new Command('ports'))
    .summary('list the ports that processes of a server listen on')
    .description(
      'List the TCP ports that processes of a server listen on, of all sessions, in sandboxes too.\n\n' +
        '`execwire forward` makes one of them available here.',
    )
    .option('-a, --all', 'also ports of programs that the server did not start')
    .option('--json', 'print JSON')
    .action(ports);
}

async function ports(flags: TargetFlags & { all?: boolean; json?: boolean }): Promise<void> {
  const found = await withServer(flags, (server) => server.ports({ scope: 'machine' }));
  const rows = flags.all ? found : found.filter(({ processId }) => processId !== null);
  process.stdout.write(flags.json ? formatJson(rows) : tableOf(rows));
}

function tableOf(rows: readonly ListeningPort[]): string {
  return formatTable(
    ['PORT', 'ADDRESS', 'WHERE', 'PID', 'PROCESS'],
    rows.map(({ port, address, sandboxed, pid, processId }) => [
      String(port),
      address,
      sandboxed ? 'sandbox' : 'machine',
      pid === null ? '-' : String(pid),
      processId ?? '-',
    ]),
  );
}
