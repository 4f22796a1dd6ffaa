import { Help, type Option } from 'commander';

const plain = new Help();

/** What help says about an option. That one which may be repeated starts out empty goes without saying. */
export function describeOption(option: Option): string {
  return isEmpty(option.defaultValue) ? option.description : plain.optionDescription(option);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
