import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../log.js';

/** Adds the options that control who may connect. */
export function addListenOptions(command: Command): Command {
  // Everything behind the parser knows the long form only.
  command.on('option:token-file', (file: string) => {
    command.setOptionValue('wsAuth', 'capability-token').setOptionValue('wsTokenFile', file);
  });
  return command
    .optionsGroup('Who may connect:')
    .option(
      '--token-file <file>',
      'clients must know the token in this file; short for --ws-auth capability-token --ws-token-file',
    )
    .option(
      '--allow-host <name>',
      'another host name clients may use for this machine; may be repeated',
      collect,
      [],
    )
    .option('--insecure', 'do not warn about tokens sent over the network in plain text')
    .addOption(
      new Option('--ws-auth <mode>', 'how clients must authenticate').choices([
        'capability-token',
        'signed-bearer-token',
      ]),
    )
    .option('--ws-token-file <file>', 'capability-token: file with the token')
    .option('--ws-token-sha256 <hex>', 'capability-token: SHA-256 of the token')
    .option('--ws-shared-secret-file <file>', 'signed-bearer-token: file with the HS256 secret')
    .option('--ws-issuer <iss>', 'signed-bearer-token: required issuer')
    .option('--ws-audience <aud>', 'signed-bearer-token: required audience')
    .option('--ws-max-clock-skew-seconds <n>', 'signed-bearer-token: tolerated clock skew', wholeNumber)
    .optionsGroup('');
}

/** Adds the options for logging. */
export function addLogOptions(command: Command, level: LogLevel = 'info'): Command {
  return command
    .optionsGroup('Log:')
    .addOption(new Option('--log-format <format>', 'log format').choices(['human', 'json']).default('human'))
    .addOption(
      new Option('--log-level <level>', 'least important messages to log')
        .choices(['debug', 'info', 'warn', 'silent'])
        .default(level),
    )
    .optionsGroup('');
}

export function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
