import { basename } from 'node:path/posix';
import { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import { EXIT_CODE_HELP } from '../exit-codes.js';
import { resolvePath } from '../options/copy-location.js';
import { collectVariable } from '../options/option-values.js';
import { type SandboxFlags, sandboxFrom, withSandbox } from '../options/sandbox-options.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

interface ShellFlags extends TargetFlags, SandboxFlags {
  readonly login?: boolean;
  readonly env: Record<string, string>;
  readonly cwd?: string;
}

/** `execwire shell`: an interactive shell somewhere. */
export function shellCommand(): Command {
  return withSandbox(withTarget(new Command('shell')))
    .summary('open an interactive shell somewhere')
    .description(
      "Open the user's shell of a machine on this terminal.\n\n" +
        'A lost connection is made again by itself, and nothing is lost meanwhile; a line on the terminal says so ' +
        'when it takes longer than a second. Type Enter, ~ and . to leave when nothing else helps (~~ types one ~).',
    )
    .option('-l, --login', 'start a login shell')
    .option('--env <name=value>', 'set a variable; NAME alone passes on its value here', collectVariable, {})
    .option('--cwd <directory>', 'where to start, on that machine')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(shell);
}

async function shell(flags: ShellFlags): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new ExecError(
      'invalidConfiguration',
      'A shell needs a terminal. For scripts: execwire run -- COMMAND.',
    );
  }
  const { runAttached } = await import('./run-attached.js');
  const { env, cwd } = flags;
  const exitCode = await runAttached({
    target: flags,
    spec: async (environment) => {
      const { path } = (await environment.info()).shell;
      return {
        argv: [path],
        env,
        tty: true,
        // By custom a leading dash in its name makes a shell a login shell.
        ...(flags.login ? { arg0: `-${basename(path)}` } : {}),
        ...(cwd === undefined ? {} : { cwd: await resolvePath(environment, cwd) }),
      };
    },
    sandbox: (environment, { cwd }) => sandboxFrom(flags, environment, { cwd }),
    stdin: true,
    escape: true,
  });
  process.exit(exitCode);
}
