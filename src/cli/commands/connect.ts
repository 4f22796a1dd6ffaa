import { once } from 'node:events';
import { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import type { LineChannel } from '../../transport/index.js';
import { printable } from '../terminal/table.js';
import { chooseTarget } from '../options/target-options.js';

/** `execwire connect`: relays our stdin and stdout to an environment. */
export function connectCommand(): Command {
  return new Command('connect')
    .summary('relay stdin and stdout to an environment')
    .description(
      'Relay protocol messages between stdin/stdout, one per line, and an environment, without reading them.\n\n' +
        'Any program that starts an exec server over stdio can use it to reach the environment.',
    )
    .argument('<environment>', 'local, a configured id, a ws://, wss:// or unix:// URL, or fleet:NAME')
    .option('--token-file <file>', 'file with the bearer token for a URL')
    .action(connect);
}

async function connect(environment: string, flags: { tokenFile?: string }): Promise<void> {
  const choice = await chooseTarget({ environment, ...flags });
  const { isLocal, unreachable } = await import('../../environment/open-environment.js');
  const lines = await import('../../transport/lines.js');
  const stdio = new lines.LineChannel({ label: 'stdio', input: process.stdin, output: process.stdout });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stdio.close(signal));
  // Stray console output must not end up between messages.
  console.log = console.error;
  if (isLocal(choice)) {
    await serveLocally(stdio);
  } else {
    const { dialEnvironment } = await import('../../environment/dial-environment.js');
    const { relay } = await import('../../transport/relay.js');
    const onLog = (line: string): void => void process.stderr.write(`${printable(line)}\n`);
    const remote = await dialEnvironment(choice, { onLog }).catch((cause: unknown) => {
      throw unreachable(choice, { target: environment, cause });
    });
    const { side, reason } = await relay(stdio, remote);
    process.stdin.destroy();
    if (side === 'right' && !reason.clean) {
      throw new ExecError('connectionClosed', `The connection to ${remote.label} ended: ${reason.message}.`);
    }
  }
  if (!process.stdout.writableFinished) await once(process.stdout, 'finish');
  process.exit(0);
}

/** The local machine needs no relay: serve it in this process. */
async function serveLocally(stdio: LineChannel): Promise<void> {
  const { ExecServer } = await import('../../server/index.js');
  const { dismissWatchdog } = await import('../dismiss-watchdog.js');
  const { guardTrees } = await import('./guard-trees.js');
  guardTrees();
  const { defaultChangesDirectory } = await import('../../environment/index.js');
  const server = new ExecServer({ changesDirectory: defaultChangesDirectory() });
  await server.accept(stdio, { resumable: false });
  await server.close();
  dismissWatchdog();
}
