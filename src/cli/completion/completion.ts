import { Argument, Command, InvalidArgumentError } from 'commander';
import { completionScript, SHELLS } from './completion-script.js';

/** `execwire completion`: scripts that let a shell complete our commands. */
export function completionCommand(loadProgram: (first?: string) => Promise<Command>): Command {
  return new Command('completion')
    .summary('print a completion script for a shell')
    .description(
      'Print a completion script: for commands, options, environments, and paths on other machines.\n\n' +
        '  bash: source <(execwire completion bash)\n' +
        '  zsh:  source <(execwire completion zsh)\n' +
        '  fish: execwire completion fish | source',
    )
    .addArgument(new Argument('<shell>', SHELLS.join(', ')).argParser(parseShell))
    .action((shell: ReturnType<typeof parseShell>) => void process.stdout.write(completionScript(shell)))
    .addCommand(candidatesCommand(loadProgram), { hidden: true });
}

/** For the scripts themselves, not for people: prints what could stand in the place of the last word. */
function candidatesCommand(loadProgram: (first?: string) => Promise<Command>): Command {
  return new Command('candidates').argument('[words...]').action(async (words: string[]) => {
    const [first] = words.slice(0, -1);
    await printCandidates(await loadProgram(first), words);
  });
}

function parseShell(text: string): (typeof SHELLS)[number] {
  const known = SHELLS.find((shell) => shell === text);
  if (known === undefined) throw new InvalidArgumentError(`It must be one of ${SHELLS.join(', ')}.`);
  return known;
}

/** What the shell may add first, then a word and its description a line. */
async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const { completeWords, NOTHING } = await import('./completion-candidates.js');
  // A broken configuration or a machine out of reach completes to nothing: this is no place to complain.
  const { candidates, fallback } = await completeWords(program, words).catch(() => NOTHING);
  const lines = candidates.map(({ word, text = '' }) => (text === '' ? word : `${word}\t${text}`));
  // A connection that comes too late is not waited for.
  process.stdout.write([fallback, ...lines, ''].join('\n'), () => process.exit(0));
}
