import { Command } from 'commander';

/** `execwire env`: lists, describes and checks environments. */
export function envCommand(): Command {
  const env = new Command('env')
    .summary('list, describe and check environments')
    .description('Environments are configured in environments.toml, or by EXECWIRE_SERVER_URL.');
  env
    .command('list')
    .description('list the configured environments; connects to none')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => (await import('./env-list.js')).listEnvironments(flags));
  env
    .command('info')
    .description('describe an environment: system, shell, directories, server capabilities')
    .argument('[environment]', 'an id or URL; by default, the default environment')
    .option('--token-file <file>', 'file with the bearer token for a URL')
    .option('--json', 'print JSON')
    .action(async (environment: string | undefined, flags: { json?: boolean; tokenFile?: string }) =>
      (await import('./env-info.js')).describeEnvironment({ environment, ...flags }),
    );
  env
    .command('check')
    .description('connect to environments and measure the round trip; fails if one is not ready')
    .argument('[environment...]', 'ids or URLs; by default, all configured environments')
    .option('--token-file <file>', 'file with the bearer token for URLs')
    .option('--json', 'print JSON')
    .action(async (environments: string[], flags: { json?: boolean; tokenFile?: string }) => {
      const { checkEnvironments } = await import('./env-check.js');
      if (!(await checkEnvironments(environments, flags))) process.exitCode = 1;
    });
  return env;
}
