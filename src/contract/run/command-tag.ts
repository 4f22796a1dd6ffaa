import { parseTemplate, type TemplateValue } from './command-template.js';
import type { OutputEncoding, RunOptions, RunResult } from './run-options.js';
import { runCommand } from './run-command.js';
import type { CommandHost } from './running-command.js';

/** Runs the command in a template, without a shell. */
export type CommandTemplate<Encoding extends OutputEncoding> = (
  strings: TemplateStringsArray,
  ...values: TemplateValue[]
) => Promise<RunResult<Encoding>>;

/** A template tag or, when called with options, a function that returns a tag with those options. */
export interface CommandTag extends CommandTemplate<'utf8'> {
  (strings: TemplateStringsArray, ...values: TemplateValue[]): Promise<RunResult>;
  <Encoding extends OutputEncoding = 'utf8'>(options: RunOptions<Encoding>): CommandTemplate<Encoding>;
}

export function commandTag(host: CommandHost): CommandTag {
  const tagWith =
    <Encoding extends OutputEncoding>(options: RunOptions<Encoding>): CommandTemplate<Encoding> =>
    async (strings, ...values) =>
      await runCommand(host, parseTemplate(strings, values), options);
  const tag = (first: TemplateStringsArray | RunOptions, ...values: TemplateValue[]): unknown =>
    isTemplate(first) ? tagWith<'utf8'>({})(first, ...values) : tagWith(first);
  return tag as CommandTag;
}

function isTemplate(value: TemplateStringsArray | RunOptions): value is TemplateStringsArray {
  return Array.isArray(value) && 'raw' in value;
}
