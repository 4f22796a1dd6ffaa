import { Command, Option } from 'commander';
import { addListenOptions, addLogOptions } from '../options/listen-options.js';
import type { AppServerFlags } from './run-app-server.js';

const DEFAULT_LISTEN = 'stdio';

/** `execwire app-server`. What it runs on is loaded when it runs. */
export function appServerCommand(): Command {
  const command = new Command('app-server')
    .summary('run commands and touch files for an editor or a desktop app')
    .description(
      'Serve command/exec, process/*, fs/* and environment/* to applications.\n\n' +
        'A WebSocket listener prints its bound URL on stdout once it is ready. Logs go to stderr.',
    )
    .addOption(new Option('--listen <url>', 'stdio, ws://IP:PORT or unix:///PATH').default(DEFAULT_LISTEN))
    .option(
      '-e, --environment <id>',
      'where requests run that name no environment: an id of environments.toml, local or none',
    )
    .addOption(
      new Option('--default-sandbox <mode>', 'for commands that bring no policy of their own')
        .choices(['read-only', 'workspace-write', 'danger-full-access'])
        .default('read-only'),
    );
  addListenOptions(command);
  return addLogOptions(command).action(async (flags: AppServerFlags) => {
    const { runAppServer } = await import('./run-app-server.js');
    await runAppServer(flags);
  });
}
