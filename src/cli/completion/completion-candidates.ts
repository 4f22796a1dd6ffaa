import type { Command, Option } from 'commander';
import { type CompletionContext, readContext } from './completion-context.js';
import { SHELLS } from './completion-script.js';
import { BUILT_IN_POLICIES } from '../options/sandbox-options.js';
import type { TargetFlags } from '../options/target-options.js';

/** Commands that take environment IDs, and how many. */
const TAKES_IDS: Readonly<Record<string, number>> = {
  connect: 1,
  shell: 1,
  ps: 1,
  'env info': 1,
  'env check': Infinity,
};

/** Commands that take the id of a kept process. `kill` takes those of any. */
const TAKES_KEPT: readonly string[] = ['attach', 'watch', 'share', 'logs', 'play', 'wait'];

/** The possible completions. */
export interface Completion {
  readonly candidates: readonly { readonly word: string; readonly text?: string }[];
  /** What the shell may add itself. */
  readonly fallback: 'words' | 'files' | 'programs';
}

/** No completions. */
export const NOTHING: Completion = { candidates: [], fallback: 'words' };
const FILES: Completion = { candidates: [], fallback: 'files' };

/** Completes the last word. */
export async function completeWords(program: Command, words: readonly string[]): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const context = readContext(program, words.slice(0, -1));
  const { candidates, fallback } = await complete(context, current);
  return { candidates: candidates.filter(({ word }) => word.startsWith(current)), fallback };
}

async function complete(context: CompletionContext, current: string): Promise<Completion> {
  const { command, path, args, option, literal, takesProgram } = context;
  if (option) return await completeValue(option, context, current);
  if (takesProgram && args.length > 0) return FILES;
  if (current.startsWith('-') && !literal) return { candidates: optionsOf(command), fallback: 'words' };
  if (takesProgram) return { candidates: [], fallback: 'programs' };
  if (path === 'completion' && args.length === 0)
    return { candidates: SHELLS.map((word) => ({ word })), fallback: 'words' };
  const isHelp = path === '' && args.length === 1 && args[0] === 'help';
  if (command.commands.length > 0 && (args.length === 0 || isHelp))
    return { candidates: command.commands.map(commandCandidate), fallback: 'words' };
  if (args.length < (TAKES_IDS[path] ?? 0)) return await environmentIds();
  if (path === 'play' && args.length === 0 && context.target.environment === undefined) return FILES;
  if (path === 'kill' || (TAKES_KEPT.includes(path) && args.length === 0)) {
    const { keptIds, runningIds } = await import('./completion-processes.js');
    return await (path === 'kill' ? runningIds(context.target, args) : keptIds(context.target));
  }
  return path === 'cp' && args.length < 2 ? await completeLocation(context, current) : NOTHING;
}

function commandCandidate(command: Command): { word: string; text: string } {
  return { word: command.name(), text: command.summary() || firstLine(command.description()) };
}

function optionsOf(command: Command): { word: string; text: string }[] {
  const options = command.options.map(({ short, long, description }) => ({
    word: long ?? short ?? '',
    text: firstLine(description),
  }));
  return [...options, { word: '--help', text: 'display help for command' }];
}

async function completeValue(
  option: Option,
  context: CompletionContext,
  current: string,
): Promise<Completion> {
  if (option.long === '--environment') return await environmentIds();
  const choices = option.argChoices ?? (option.long === '--sandbox' ? BUILT_IN_POLICIES : undefined);
  if (choices) return { candidates: choices.map((word) => ({ word })), fallback: 'words' };
  if (option.flags.endsWith('<directory>') && (await isRemote(context.target))) {
    const { remotePaths } = await import('./completion-paths.js');
    return await remotePaths({ target: context.target, prefix: '', path: current, directories: true });
  }
  return /<(file|dir|directory)>$/.test(option.flags) ? FILES : NOTHING;
}

/** Local files and environment IDs, or remote paths once the environment is typed. */
async function completeLocation({ target: flags }: CompletionContext, current: string): Promise<Completion> {
  const { parseLocation } = await import('../options/copy-location.js');
  const location = parseLocation(current, flags);
  if (location.kind === 'path' && location.path !== current) {
    const { remotePaths } = await import('./completion-paths.js');
    const { path } = location;
    const target = location.target === undefined ? flags : { ...flags, environment: location.target };
    const prefix = current.slice(0, current.length - path.length);
    return await remotePaths({ target, prefix, path, directories: false });
  }
  const { candidates } = await environmentIds();
  return { candidates: candidates.map(({ word }) => ({ word: `${word}:` })), fallback: 'files' };
}

async function environmentIds(): Promise<Completion> {
  const { loadEnvironments } = await import('../../environment/providers.js');
  const { environmentRows } = await import('../commands/env-list.js');
  const rows = environmentRows(loadEnvironments());
  return { candidates: rows.map(({ id, where }) => ({ word: id, text: where })), fallback: 'words' };
}

async function isRemote({ environment }: TargetFlags): Promise<boolean> {
  const { chooseEnvironment, isLocal } = await import('../../environment/open-environment.js');
  return !isLocal(await chooseEnvironment(environment));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
