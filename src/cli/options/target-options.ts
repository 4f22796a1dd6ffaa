import type { Command } from 'commander';
import type { Environment } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { shellWord } from '../terminal/shell-word.js';
import { printable } from '../terminal/table.js';
import type { EnvironmentChoice, OpenOptions } from '../../environment/index.js';

/** Enough to explain a failure. A program may print more, and nobody reads it after connecting. */
const MAX_LOG_LINES = 20;

/** The flags that choose a machine. */
export interface TargetFlags {
  readonly environment?: string;
  readonly tokenFile?: string;
}

/** Adds the options that choose a machine. */
export function withTarget(command: Command): Command {
  return command
    .optionsGroup('Machine:')
    .option('-e, --environment <id>', 'local, a configured id, a ws://, wss:// or unix:// URL, or fleet:NAME')
    .option('--token-file <file>', 'file with the bearer token for a URL given with -e')
    .optionsGroup('');
}

/** The same flags again, in front of further arguments, for suggested commands. */
export function targetWords({ environment, tokenFile }: TargetFlags): string {
  const target = environment === undefined ? '' : `-e ${shellWord(environment)} `;
  return tokenFile === undefined ? target : `${target}--token-file ${shellWord(tokenFile)} `;
}

/** For docker's users, -e sets a variable. The value may be a secret, so it is not repeated. */
function refuseVariable({ environment = '' }: TargetFlags): void {
  const [, name] = /^([A-Za-z_]\w*)=/.exec(environment) ?? [];
  if (name === undefined) return;
  throw new ExecError(
    'invalidConfiguration',
    `-e chooses a machine. To set a variable, use: --env ${name.slice(0, 64)}=VALUE`,
  );
}

/** A machine given by where it is, and not by the name it has in our configuration. */
export function isAddress(target: string | undefined): target is string {
  return target !== undefined && /^[a-z]+:/.test(target);
}

/** The machines of a configuration name their own. */
function refuseIdleToken({ environment, tokenFile }: TargetFlags): void {
  if (tokenFile === undefined || isAddress(environment)) return;
  throw new ExecError(
    'invalidConfiguration',
    '--token-file needs -e URL. A machine of environments.toml has its own, as token_file.',
  );
}

/** Resolves the flags without connecting. */
export async function chooseTarget(flags: TargetFlags): Promise<EnvironmentChoice> {
  refuseVariable(flags);
  refuseIdleToken(flags);
  const { chooseEnvironment } = await import('../../environment/open-environment.js');
  return await chooseEnvironment(flags.environment, { tokenFile: flags.tokenFile });
}

/**
 * Opens the machine the flags choose. On failure, prints the stderr of the program that connects. `onOpening` gets a remote
 * machine as soon as requests can be sent to it.
 */
export async function openTarget(
  flags: TargetFlags,
  {
    onOpening,
    onNetworkRequest,
    clientName = 'execwire-cli',
  }: Pick<OpenOptions, 'onOpening' | 'onNetworkRequest' | 'clientName'> = {},
): Promise<Environment> {
  refuseVariable(flags);
  refuseIdleToken(flags);
  const { openEnvironment } = await import('../../environment/open-environment.js');
  // A set: repeated lines are printed once.
  const logLines = new Set<string>();
  try {
    return await openEnvironment(flags.environment, {
      tokenFile: flags.tokenFile,
      clientName,
      ...(onOpening ? { onOpening } : {}),
      onNetworkRequest,
      onLog: (line) => {
        if (logLines.size < MAX_LOG_LINES) logLines.add(line);
      },
    });
  } catch (error) {
    const id = isExecError(error) ? error.data.environmentId : undefined;
    const name = typeof id === 'string' ? id : 'execwire';
    for (const line of logLines) process.stderr.write(`${name}: ${printable(line)}\n`);
    throw error;
  }
}

/** Closes a machine and ends everything started on it. */
export async function closeTarget(environment: Environment): Promise<void> {
  if (environment.id !== 'local') {
    const { RemoteEnvironment } = await import('../../client/index.js');
    // We exit right after, so do not wait a round trip for an orderly close.
    return await (environment instanceof RemoteEnvironment ? environment.leave() : environment.close());
  }
  await environment.close();
  // Nothing is left to clean up; unless dismissed, the watchdog would search the machine to find that out.
  const { dismissWatchdog } = await import('../dismiss-watchdog.js');
  dismissWatchdog();
}
