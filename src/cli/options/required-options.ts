import type { Command, Option } from 'commander';
import { ExecError } from '../../protocol/errors.js';

/** `with --audit: …`, `with --sandbox or --hold: …`: the help of an option says which others it needs one of. */
const CONDITION = /^with (--[a-z-]+(?: or --[a-z-]+)*): /;

/** The options that an option has no effect without; it needs only one of them. */
export function neededBy({ description }: Option): readonly string[] {
  return CONDITION.exec(description)?.[1]?.split(' or ') ?? [];
}

/** Refuses options that have no effect as they are: whoever gave them expects one. */
export function refuseIdleOptions(command: Command): void {
  for (const option of command.options) {
    const needed = neededBy(option);
    if (needed.length === 0 || !isGiven(option, command)) continue;
    const others = command.options.filter(({ long }) => long !== undefined && needed.includes(long));
    if (others.some((each) => isGiven(each, command))) continue;
    throw new ExecError('invalidConfiguration', `${option.long} needs ${others.map(asTyped).join(' or ')}.`);
  }
}

function isGiven(option: Option, command: Command): boolean {
  return command.getOptionValueSource(option.attributeName()) === 'cli';
}

/** `--on SELECTOR` */
function asTyped({ long = '', flags }: Option): string {
  const [, value] = /<(.+)>/.exec(flags) ?? [];
  return value === undefined ? long : `${long} ${value.toUpperCase()}`;
}
