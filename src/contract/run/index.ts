export { CommandFailure, isCommandFailure } from './command-failure.js';
export { commandLines } from './command-lines.js';
export { type CommandTag, type CommandTemplate, commandTag } from './command-tag.js';
export type { TemplateValue } from './command-template.js';
export { runCommand } from './run-command.js';
export type {
  CommandInput,
  CommandOptions,
  LinesOptions,
  OutputEncoding,
  OutputOf,
  RunOptions,
  RunResult,
} from './run-options.js';
