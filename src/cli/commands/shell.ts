import { basename } from 'node:path/posix';
import { Command } from 'commander';
import type { Environment, ProcessSpec } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { EXIT_CODE_HELP } from '../exit-codes.js';
import { asUser, refuseUserInSandbox, THEIR_SHELL } from '../habits/as-user.js';
import { onMachine, withMachine } from '../habits/machine-argument.js';
import { directoryFor } from '../options/directory-option.js';
import { collectVariable } from '../options/option-values.js';
import { asksAboutHosts, type SandboxFlags, sandboxFrom, withSandbox } from '../options/sandbox-options.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import type { AttachedStart, Begun } from './run-attached.js';

interface ShellFlags extends TargetFlags, SandboxFlags {
  readonly login?: boolean;
  readonly env: Record<string, string>;
  readonly cwd?: string;
  readonly user?: string;
  readonly keep?: string;
}

/** `execwire shell`: an interactive shell on any machine. */
export function shellCommand(): Command {
  const command = withMachine(new Command('shell'))
    .summary('open an interactive shell on a machine')
    .description(
      "Open the user's shell on a machine in this terminal.\n\n" +
        'A lost connection is restored automatically, and nothing is lost; if that takes longer than a second, a line ' +
        'on the terminal says so. If nothing else helps, type Enter, ~ and . to leave (~~ types one ~).',
    )
    .option('-l, --login', 'start a login shell')
    .option('--env <name=value>', 'set a variable; NAME alone copies its local value', collectVariable, {})
    .option('-w, --cwd <directory>', 'working directory on that machine (default: home; here: this one)')
    .option('-u, --user <name>', 'open the shell of this user; needs a server that runs as root')
    .option('--keep <name>', 'a shell that stays when you leave; use the same name to come back')
    .addHelpText('after', EXIT_CODE_HELP);
  return withSandbox(withTarget(command)).action(shell);
}

async function shell(machine: string | undefined, given: ShellFlags): Promise<void> {
  const flags = onMachine(machine, given);
  refuseUserInSandbox(flags);
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new ExecError(
      'invalidConfiguration',
      'A shell needs a terminal. For scripts: execwire run -- COMMAND.',
    );
  }
  const { runAttached, startAttached } = await import('./run-attached.js');
  const { env, cwd, user, keep, login = false } = flags;
  const what: AttachedStart = {
    target: flags,
    spec: async (environment) => {
      const { path } = (await environment.info()).shell;
      const argv = user === undefined ? [path] : [THEIR_SHELL, ...(login ? ['-l'] : [])];
      return {
        argv: asUser(user, argv, { hasDirectory: cwd !== undefined }),
        env,
        tty: true,
        ...(keep === undefined ? {} : await keptAs(environment, keep)),
        // By convention, a leading dash in its name makes a shell a login shell.
        ...(login && user === undefined ? { arg0: `-${basename(path)}` } : {}),
        ...(await directoryFor(flags, environment)),
      };
    },
    sandbox: (environment, { cwd }) => sandboxFrom(flags, environment, { cwd }),
  };
  const exitCode = await runAttached({
    target: flags,
    begin: async (environment) =>
      keep === undefined
        ? await startAttached(environment, what)
        : ((await runningAs(environment, keep)) ?? (await startedToStay(environment, what))),
    stdin: true,
    escape: true,
    asks: asksAboutHosts(flags),
    outlivesUs: keep !== undefined,
  });
  process.exit(exitCode);
}

async function keptAs(environment: Environment, name: string): Promise<Partial<ProcessSpec>> {
  const { requireServer, retention } = await import('./kept.js');
  return { processId: name, lease: 'kept', ...retention(await requireServer(environment)) };
}

/** The kept shell of this name, if it has not ended. */
async function runningAs(environment: Environment, name: string): Promise<Begun | undefined> {
  const { requireServer } = await import('./kept.js');
  const { keptWith } = await import('./attach-kept.js');
  const rows = await (await requireServer(environment)).kept();
  const isRunning = rows.some(({ processId, closed }) => processId === name && !closed);
  return isRunning ? await keptWith(environment, name) : undefined;
}

async function startedToStay(environment: Environment, what: AttachedStart): Promise<Begun> {
  const { startAttached } = await import('./run-attached.js');
  const { withKeyboard } = await import('./attach-kept.js');
  return await withKeyboard(environment, await startAttached(environment, what));
}
