import { type Command, InvalidArgumentError, Option } from 'commander';

/** Who may connect, as every command that listens lets you say. */
export function addListenOptions(command: Command): Command {
  return command
    .option(
      '--allow-host <name>',
      'a further name clients may use for this machine; may be repeated',
      collect,
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
    .option('--insecure', 'do not warn of tokens that travel the network in plain text')
    .option(
      '--ws-max-clock-skew-seconds <n>',
      'signed-bearer-token: tolerated clock difference',
      wholeNumber,
    );
}

/** How a long-running command says what it does. */
export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-format <format>', 'how logs look').choices(['human', 'json']).default('human'),
    )
    .addOption(
      new Option('--log-level <level>', 'how much is logged')
        .choices(['debug', 'info', 'warn', 'silent'])
        .default('info'),
    );
}

export function collect(value: string, previous: string[]): string[] {
  return [...previous, value];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
