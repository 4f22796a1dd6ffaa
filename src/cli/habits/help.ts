import { type Command, Help, type Option } from 'commander';

const plain = new Help();

/** What help says about an option. That one which may be repeated starts out empty goes without saying. */
export function describeOption(option: Option): string {
  return isEmpty(option.defaultValue) ? option.description : plain.optionDescription(option);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

const COMMON = 'Options:';

/** Help in groups begins with what belongs to the command alone. */
export function groupItems<Item extends Command | Option>(
  unsorted: Item[],
  visible: Item[],
  groupOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = plain.groupItems(unsorted, visible, groupOf);
  const common = groups.get(COMMON);
  if (!common) return groups;
  groups.delete(COMMON);
  return new Map([[COMMON, common], ...groups]);
}

/** How a list of commands shows one: its arguments are shown by its own help. */
export function namesOf(command: Command): string {
  return [command.name(), ...command.aliases()].join(', ');
}
