import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Environment } from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { printable } from '../terminal/table.js';
import type { EnvironmentChoice } from '../../environment/index.js';

/** Enough for any reason; a program may say more, and nobody reads it once connected. */
const MAX_SAID_LINES = 20;

/** Which machine a command is about. */
export interface TargetFlags {
  readonly environment?: string;
  readonly tokenFile?: string;
}

/** Adds the options that choose a machine; the same for every command that needs one. */
export function withTarget(command: Command): Command {
  return command
    .option('-e, --environment <id>', 'local, a configured id, or a ws://, wss:// or unix:// URL')
    .option('--token-file <file>', 'file with the bearer token for a URL given with -e');
}

/** What the flags mean, without connecting. */
export async function chooseTarget(flags: TargetFlags): Promise<EnvironmentChoice> {
  const { chooseEnvironment } = await import('../../environment/open-environment.js');
  return await chooseEnvironment(flags.environment, { authBearerToken: tokenOf(flags) });
}

/** Opens the machine the flags name. When that fails, what the program in between had to say is shown. */
export async function openTarget(flags: TargetFlags): Promise<Environment> {
  const { openEnvironment } = await import('../../environment/open-environment.js');
  // Each line once: whoever repeats himself says nothing new.
  const said = new Set<string>();
  try {
    return await openEnvironment(flags.environment, {
      authBearerToken: tokenOf(flags),
      clientName: 'execwire-cli',
      onLog: (line) => {
        if (said.size < MAX_SAID_LINES) said.add(line);
      },
    });
  } catch (error) {
    const id = isExecError(error) ? error.data.environmentId : undefined;
    const name = typeof id === 'string' ? id : 'execwire';
    for (const line of said) process.stderr.write(`${name}: ${printable(line)}\n`);
    throw error;
  }
}

/** Closes a machine, with everything started on it. */
export async function closeTarget(environment: Environment): Promise<void> {
  if (environment.id !== 'local') {
    const { RemoteEnvironment } = await import('../../client/index.js');
    // We end right after, and a goodbye would take as long as the way there and back.
    return await (environment instanceof RemoteEnvironment ? environment.leave() : environment.close());
  }
  await environment.close();
  // Nothing is left for the watchdog to do; without a farewell it would search the machine to find that out.
  const { dismissWatchdog } = await import('../../host/index.js');
  dismissWatchdog();
}

function tokenOf({ tokenFile }: TargetFlags): string | undefined {
  if (tokenFile === undefined) return undefined;
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (cause) {
    throw new ExecError('invalidConfiguration', `Cannot read ${tokenFile}.`, { cause });
  }
}
