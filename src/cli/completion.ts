import { Argument, Command, InvalidArgumentError } from 'commander';
import { completionScript, SHELLS } from './completion-script.js';

/** For the scripts themselves, not for people: prints what `-e` takes. */
const IDS = 'ids';

/** `execwire completion`: scripts that let a shell complete our commands. */
export function completionCommand(loadProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .summary('print a completion script for a shell')
    .description(
      'Print a completion script.\n\n' +
        '  bash: source <(execwire completion bash)\n' +
        '  zsh:  source <(execwire completion zsh)\n' +
        '  fish: execwire completion fish | source',
    )
    .addArgument(new Argument('<shell>', SHELLS.join(', ')).argParser(parseShell))
    .action(async (shell: ReturnType<typeof parseShell>) => {
      process.stdout.write(
        shell === IDS ? await environmentIds() : completionScript(shell, await loadProgram()),
      );
    });
}

function parseShell(text: string): (typeof SHELLS)[number] | typeof IDS {
  const known = ([...SHELLS, IDS] as const).find((shell) => shell === text);
  if (known === undefined) throw new InvalidArgumentError(`It must be one of ${SHELLS.join(', ')}.`);
  return known;
}

/** One id per line. A broken configuration completes to nothing: this is no place to complain. */
async function environmentIds(): Promise<string> {
  try {
    const { loadEnvironments } = await import('../environment/providers.js');
    const { environmentRows } = await import('./env-list.js');
    return environmentRows(loadEnvironments())
      .map(({ id }) => `${id}\n`)
      .join('');
  } catch {
    return '';
  }
}
