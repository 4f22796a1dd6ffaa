import type { Command, Option } from 'commander';
import type { TargetFlags } from '../options/target-options.js';

/** Commands whose arguments are a program and its own arguments. */
const TAKES_PROGRAM: readonly string[] = ['run'];

/** A partly typed command line. */
export interface CompletionContext {
  readonly command: Command;
  /** The command's full name: `run`, `env list`. */
  readonly path: string;
  /** Arguments before the word being typed. */
  readonly args: readonly string[];
  /** The option whose value is being typed. */
  readonly option: Option | undefined;
  /** None of our options can follow: after `--`, or in the arguments of another program. */
  readonly literal: boolean;
  readonly takesProgram: boolean;
  /** The machine as far as it has been chosen. */
  readonly target: TargetFlags;
}

/** Reads the words before the one being typed, the way the parser will. */
export function readContext(program: Command, words: readonly string[]): CompletionContext {
  const names: string[] = [];
  const args: string[] = [];
  let command = program;
  let option: Option | undefined;
  let target: TargetFlags = {};
  let literal = false;
  const takesProgram = (): boolean => TAKES_PROGRAM.includes(names.join(' '));
  for (const word of words) {
    const child =
      args.length === 0 && !literal
        ? command.commands.find((each) => [each.name(), ...each.aliases()].includes(word))
        : undefined;
    if (option) {
      if (option.long === '--environment') target = { ...target, environment: word };
      if (option.long === '--token-file') target = { ...target, tokenFile: word };
      option = undefined;
    } else if (literal || !word.startsWith('-') || word === '-') {
      if (child) command = child;
      if (child) names.push(child.name());
      else args.push(word);
      literal ||= takesProgram() && args.length > 0;
    } else if (word === '--') literal = true;
    else option = valueOptionOf(command, word);
  }
  const path = names.join(' ');
  return { command, path, args, option, literal, takesProgram: takesProgram(), target };
}

/** The option a word names, if the next word is its value. */
function valueOptionOf(command: Command, word: string): Option | undefined {
  const found = command.options.find(({ short, long }) => word === short || word === long);
  return found?.required ? found : undefined;
}
