import { Argument, Command, InvalidArgumentError } from 'commander';
import { completionScript, SHELLS } from './completion-script.js';

/** `execwire completion`: prints completion scripts for shells. */
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

/** For the scripts, not for people: prints completions for the last word. */
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

/** Prints the shell's fallback, then one word and its description per line. */
async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const { completeWords, NOTHING } = await import('./completion-candidates.js');
  // A broken configuration or an unreachable machine completes to nothing: this is no place for errors.
  const { candidates, fallback } = await completeWords(program, words).catch(() => NOTHING);
  const lines = candidates.map(({ word, text = '' }) => (text === '' ? word : `${word}\t${text}`));
  // Exit at once: a connection may still be opening after the timeout.
  process.stdout.write([fallback, ...lines, ''].join('\n'), () => process.exit(0));
}
