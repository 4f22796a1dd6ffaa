import { Command, Option } from 'commander';
import type { AppServerFlags } from './run-app-server.js';

const DEFAULT_LISTEN = 'stdio';

/** `execwire app-server`. What it runs on is loaded when it runs. */
export function appServerCommand(): Command {
  return new Command('app-server')
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
    )
    .option(
      '--allow-host <name>',
      'a further name clients may use for this machine; may be repeated',
      (value: string, previous: string[]) => [...previous, value],
      [],
    )
    .addOption(
      new Option('--ws-auth <mode>', 'what clients must present').choices([
        'capability-token',
        'signed-bearer-token',
      ]),
    )
    .option('--ws-token-file <file>', 'capability-token: file with the token')
    .option('--ws-token-sha256 <hex>', 'capability-token: SHA-256 of the token')
    .option('--ws-shared-secret-file <file>', 'signed-bearer-token: file with the HS256 secret')
    .option('--ws-issuer <iss>', 'signed-bearer-token: required issuer')
    .option('--ws-audience <aud>', 'signed-bearer-token: required audience')
    .option(
      '--ws-max-clock-skew-seconds <n>',
      'signed-bearer-token: tolerated clock difference',
      (text: string) => Number.parseInt(text, 10),
    )
    .addOption(
      new Option('--log-format <format>', 'how logs look').choices(['human', 'json']).default('human'),
    )
    .addOption(
      new Option('--log-level <level>', 'how much is logged')
        .choices(['debug', 'info', 'warn', 'silent'])
        .default('info'),
    )
    .action(async (flags: AppServerFlags) => {
      const { runAppServer } = await import('./run-app-server.js');
      await runAppServer(flags);
    });
}
