import { Command, Option } from 'commander';
import { addListenOptions, addLogOptions } from '../options/listen-options.js';
import type { AppServerFlags } from './run-app-server.js';

const DEFAULT_LISTEN = 'stdio';

/** `execwire app-server`. The server itself is loaded only when it runs. */
export function appServerCommand(): Command {
  const command = new Command('app-server')
    .summary('run commands and access files for an editor or a desktop app')
    .description(
      'Serve command/exec, process/*, fs/* and environment/* to applications.\n\n' +
        'A WebSocket listener prints its bound URL on stdout once it is ready. Logs go to stderr.',
    )
    .addOption(new Option('--listen <url>', 'stdio, ws://IP:PORT or unix:///PATH').default(DEFAULT_LISTEN))
    .option(
      '-e, --environment <id|url>',
      'for requests without an environment: an id from environments.toml, ws://, wss://, unix://, fleet:NAME, local or none',
    )
    .addOption(
      new Option('--default-sandbox <mode>', 'for commands without a policy of their own')
        .choices(['read-only', 'workspace-write', 'danger-full-access'])
        .default('read-only'),
    );
  addListenOptions(command);
  return addLogOptions(command).action(async (flags: AppServerFlags) => {
    const { runAppServer } = await import('./run-app-server.js');
    await runAppServer(flags);
  });
}
