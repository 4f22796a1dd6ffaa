import { END_RECORD, STATE_PARTS } from './capture-script.js';
import { limitCommands, settableLimits } from './shell-limits.js';

type StatePart = (typeof STATE_PARTS)[number];

/** The state of a shell after its profile. */
export interface ShellState {
  readonly exported: ReadonlyMap<string, string>;
  /** Commands that declare other variables, by name. */
  readonly variables: ReadonlyMap<string, string>;
  /** Commands that restore the rest, part by part; `limits` is in the kernel's format. */
  readonly parts: Readonly<Record<StatePart, string>>;
}

/** The shell sets these itself for each process. */
const PER_PROCESS = new Set(['_', 'PWD', 'OLDPWD', 'SHLVL', 'BASH_ENV']);

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses the output of a capture. Null if it is incomplete, or cannot be reproduced byte for byte. */
export function parseState(output: Uint8Array): ShellState | null {
  const [exported, variables, parts] = sections(textOf(output));
  if (!exported || !variables || parts?.length !== STATE_PARTS.length + 2) return null;
  if (parts[STATE_PARTS.length] !== END_RECORD) return null;
  const named = STATE_PARTS.map((part, index) => [part, parts[index] ?? ''] as const);
  return {
    exported: new Map(splitAll(exported, '=').filter(([name]) => !PER_PROCESS.has(name))),
    variables: new Map(splitAll(variables, '\n')),
    // One entry for each name in the list.
    parts: Object.fromEntries(named) as Record<StatePart, string>,
  };
}

/** Two lists terminated by an empty record, and the rest. */
function sections(text: string | null): readonly [string[]?, string[]?, string[]?] {
  const records = text?.split('\0') ?? [];
  const first = records.indexOf('');
  const second = records.indexOf('', first + 1);
  if (first < 0 || second < 0) return [];
  return [records.slice(0, first), records.slice(first + 1, second), records.slice(second + 1)];
}

function splitAll(records: readonly string[], at: string): [string, string][] {
  return records.map((record) => {
    const end = record.indexOf(at);
    return [record.slice(0, end), record.slice(end + 1)];
  });
}

function textOf(output: Uint8Array): string | null {
  try {
    return decoder.decode(output);
  } catch {
    return null;
  }
}

/** What a profile did to the variables it was given: a new value, or null if it removed one. */
export type EnvironmentChange = ReadonlyMap<string, string | null>;

export function environmentChange(
  before: Readonly<Record<string, string>>,
  { exported }: ShellState,
): EnvironmentChange {
  const set = [...exported].filter(([name, value]) => before[name] !== value);
  const removed = Object.keys(before).filter(
    // Functions are passed as variables under names no shell lists.
    (name) => !exported.has(name) && !PER_PROCESS.has(name) && /^[A-Za-z_]\w*$/.test(name),
  );
  return new Map<string, string | null>([...set, ...removed.map((name) => [name, null] as const)]);
}

/** True if two shells have the same state. */
export function isSameState(one: ShellState, other: ShellState): boolean {
  return identityOf(one) === identityOf(other);
}

function identityOf({ exported, variables, parts }: ShellState): string {
  const shown = { ...parts, limits: settableLimits(parts.limits), shopt: shoptCommands(parts.shopt) };
  return JSON.stringify([byName(exported), byName(variables), shown]);
}

function byName(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * The commands that give a fresh shell this state, except for variables requested otherwise. Options that affect
 * parsing come first, those that affect failing commands come last. Null if a limit cannot be set this way.
 */
export function restoreScript(
  { parts, variables }: ShellState,
  { fd, bashEnv, given }: { fd: number; bashEnv: string | undefined; given: (name: string) => boolean },
): string | null {
  const limits = limitCommands(parts.limits);
  if (limits === null) return null;
  const declared = [...variables].filter(([name]) => !given(name)).map(([, commands]) => commands);
  const { shopt, functions, aliases, umask, traps, set } = parts;
  const own = [
    `exec ${fd}<&-`,
    bashEnv === undefined ? 'unset BASH_ENV' : `export BASH_ENV=${quote(bashEnv)}`,
  ];
  return [shoptCommands(shopt), functions, ...declared, aliases, umask, limits, ...own, traps, set, ''].join(
    '\n',
  );
}

/**
 * How the shell was started, which cannot be set; and options that are off anyway, but create a variable when switched
 * off.
 */
const NOT_SETTABLE = / (?:login_shell|restricted_shell)$|^shopt -u compat/;

function shoptCommands(shopt: string): string {
  return shopt
    .split('\n')
    .filter((line) => !NOT_SETTABLE.test(line))
    .join('\n');
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
