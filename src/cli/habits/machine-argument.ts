import type { Command } from 'commander';
import { ExecError } from '../../protocol/errors.js';
import type { TargetFlags } from '../options/target-options.js';

/** Lets the machine be given as an argument, for commands that take no other. */
export function withMachine(command: Command): Command {
  return command.argument('[machine]', 'the same as -e MACHINE');
}

/** The flags with the machine that was given as an argument. */
export function onMachine<Flags extends TargetFlags>(machine: string | undefined, flags: Flags): Flags {
  if (machine === undefined) return flags;
  if (flags.environment !== undefined)
    throw new ExecError('invalidConfiguration', 'Two machines are named; leave out -e, or the argument.');
  return { ...flags, environment: machine };
}

/**
 * Splits `box -- make test` into the machine and the program. Only a known machine in front of `--` counts as one, so
 * that `env -- make` stays a program. `isLiteral`: a `--` came before all of it.
 */
export async function splitMachine(
  words: readonly string[],
  { isLiteral, flags }: { isLiteral: boolean; flags: TargetFlags },
): Promise<{ machine?: string; argv: readonly string[] }> {
  const [first = '', second] = words;
  if (isLiteral || flags.environment !== undefined || second !== '--' || words.length < 3)
    return { argv: words };
  return (await isMachine(first)) ? { machine: first, argv: words.slice(2) } : { argv: words };
}

/** Whether a word names a machine: a URL, `local`, or a configured environment. */
export async function isMachine(word: string): Promise<boolean> {
  const { isServerUrl, LOCAL_ID } = await import('../../environment/environment-names.js');
  if (word === LOCAL_ID || isServerUrl(word)) return true;
  const { loadEnvironments } = await import('../../environment/providers.js');
  return loadEnvironments().environments.some(({ id }) => id === word);
}
